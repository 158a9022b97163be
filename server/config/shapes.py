"""Keys of other hosts whose value has another shape than ours: what each says, as a part of an entry in our words.

Every function takes any value. What it cannot make sense of it hands on under our name, where the type is refused.
"""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from server.config.sections import JsonObject

Shape: TypeAlias = Callable[[object], JsonObject]


def words(line: str) -> object:
    """The arguments of a command line; the line itself where its quotes do not close."""
    is_posix = os.name == "posix"  # elsewhere a backslash separates folders
    try:
        found = shlex.split(line, posix=is_posix)
    except ValueError:
        return line
    return found if is_posix else [word.strip("\"'") for word in found]


def _command(value: object) -> JsonObject:
    """Zed once had `"command": {"path": "…", "args": […], "env": {…}}`."""
    if not isinstance(value, dict) or "path" not in value:
        return {"command": value}
    return {"command": value["path"], **{key: value[key] for key in ("args", "env") if value.get(key) is not None}}


def _helper(value: object) -> JsonObject:
    if isinstance(value, dict):
        value = [value.get("command"), *(args if isinstance(args := value.get("args"), list) else ())]
    return {"headersHelper": words(value) if isinstance(value, str) else value}


def _timeout(value: object) -> JsonObject:
    """OpenCode has `{"startup": …, "request": …}` there."""
    if not isinstance(value, dict):
        return {"timeout": value}
    pairs = (("startup", "startupTimeout"), ("request", "timeout"))
    return {ours: value[theirs] for theirs, ours in pairs if value.get(theirs) is not None}


def _only(value: object) -> JsonObject:
    """A list of what is let through, in which an empty one means nothing at all."""
    if value == []:
        return {"excludeTools": ["*"]}
    return {} if isinstance(value, list) and "*" in value else {"includeTools": value}


def _only_if_any(value: object) -> JsonObject:
    return {} if value == [] else {"includeTools": value}


def _tools(value: object) -> JsonObject:
    """Copilot CLI: names. Claude Code: objects with a policy. Codex: an object of objects, all of them let through."""
    if isinstance(value, dict):
        return {}
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value) or not value:
        return _only(value)
    return _refused((item.get("name"), item.get("permission_policy")) for item in value)


def _tool_permissions(value: object) -> JsonObject:
    return _refused(value.items()) if isinstance(value, dict) else {}


def _refused(permissions: Iterable[tuple[object, object]]) -> JsonObject:
    names = [name for name, permission in permissions if permission in ("always_deny", "blocked", "deny")]
    return {"excludeTools": names} if names else {}


def _tool_filter(value: object) -> JsonObject:
    if not isinstance(value, dict):
        return {"includeTools": value}
    pairs = (("include", "includeTools"), ("exclude", "excludeTools"))
    return {ours: value[theirs] for theirs, ours in pairs if value.get(theirs) is not None}


def _passed(value: object) -> JsonObject:
    """Codex: names, or `{"name": "…"}`. Goose: names."""
    if isinstance(value, list):
        value = [item.get("name") if isinstance(item, dict) else item for item in value]
    return {"passEnv": value} if value != [] else {}


def _bearer(value: object) -> JsonObject:
    return {"headers": {"Authorization": f"Bearer {value}"} if isinstance(value, str) else value}


def _bearer_variable(value: object) -> JsonObject:
    return _bearer(f"${{env:{value}}}" if isinstance(value, str) else value)


def _header_variables(value: object) -> JsonObject:
    """A header whose variable is not set is not sent: an empty one is left out."""
    if not isinstance(value, dict):
        return {"headers": value}
    named = {header: f"${{env:{name}:-}}" if isinstance(name, str) else [name] for header, name in value.items()}
    return {"headers": named} if named else {}


def _request_options(value: object) -> JsonObject:
    return {"headers": value["headers"]} if isinstance(value, dict) and value.get("headers") is not None else {}


SHAPES: Mapping[str, Shape] = {
    "command": _command,
    "timeout": _timeout,
    "headersHelper": _helper,
    "http_headers_helper": _helper,
    "enabled_tools": _only,
    "allowedTools": _only,
    "allowed_tools": _only,
    "available_tools": _only_if_any,
    "tools": _tools,
    "toolPermissions": _tool_permissions,
    "toolFilter": _tool_filter,
    "env_vars": _passed,
    "env_keys": _passed,
    "bearerToken": _bearer,
    "bearer_token": _bearer,
    "bearerTokenEnv": _bearer_variable,
    "bearer_token_env": _bearer_variable,
    "bearer_token_env_var": _bearer_variable,
    "env_http_headers": _header_variables,
    "requestOptions": _request_options,
}
