"""Which sessions a caller may see: a filter of ours, on top of whatever the Gateway lets through. Pure.

Laws
1. Under `self`, `tree` and `agent` no session outside is read, written to or shown, by whatever name it is called: its key,
   a short key, its id or its label. What cannot be told is outside.
2. `tree` is the own session and whatever was started from it, at any depth. `all` filters nothing.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from upstream_clients.framing import JsonObject
from upstream_clients.openclaw.target import OpenClawGateway, Visibility, whole_key

Kind: TypeAlias = Literal["key", "label", "id"]

_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "sessions_history": ("sessionKey",),
    "sessions_send": ("sessionKey",),
    "session_status": ("sessionKey",),
    "sessions_search": ("sessionKey",),
    "sessions": ("sessionKey",),
}
"""The arguments of each tool that name the session that it reaches. Any other tool acts on the own one."""

_ROWS: Final[Mapping[str, tuple[str, str]]] = {
    "sessions_list": ("sessions", "key"),
    "sessions_search": ("results", "sessionKey"),
}
"""Where the result of a tool has rows of several sessions, and what in a row is the key."""

_SCOPES: Final[Mapping[Visibility, str]] = {
    "self": "the own session",
    "tree": "the own session and those that it has started",
    "agent": "the sessions of the own agent",
    "all": "all sessions",
}


@dataclass(frozen=True, slots=True)
class Named:
    """A session that a call names."""

    kind: Kind
    value: str


@dataclass(frozen=True, slots=True)
class Directory:
    """What the Gateway's own list of sessions says: whose child each is, and what else it is called."""

    parents: Mapping[str, str] = field(default_factory=dict)
    by_id: Mapping[str, str] = field(default_factory=dict)
    by_label: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[JsonObject]) -> "Directory":
        parents: dict[str, str] = {}
        by_id: dict[str, str] = {}
        by_label: dict[str, str] = {}
        for row in rows:
            key = _text(row.get("key"))
            if parent := _text(row.get("parentSessionKey")):
                parents[key] = parent
            children = row.get("childSessions")
            for child in children if isinstance(children, list) else ():
                parents.setdefault(str(child), key)
            for names, name in ((by_id, _text(row.get("sessionId"))), (by_label, _text(row.get("label")))):
                names[name] = key if names.get(name, key) == key else ""  # what two are called names neither
        return cls(parents, by_id, by_label)

    def is_below(self, key: str, top: str) -> bool:
        """Whether `key` was started from `top`, at any depth. A circle has no top."""
        for _ in range(len(self.parents) + 1):
            if key == top:
                return True
            if key not in self.parents:
                return False
            key = self.parents[key]
        return False


def named_in(tool: str, arguments: JsonObject) -> tuple[Named, ...]:
    """The sessions that a call reaches, as it names them."""
    found = [Named("key", value) for name in _KEYS.get(tool, ()) if (value := _text(arguments.get(name)))]
    if tool == "sessions_send" and not found:
        if label := _text(arguments.get("label")):
            found = [Named("label", label)]
        elif agent := _text(arguments.get("agentId")):
            found = [Named("key", whole_key("main", agent))]
    if tool == "sessions_history" and (number := _text(arguments.get("sessionId"))):
        found.append(Named("id", number))
    targets = arguments.get("targets") if tool == "sessions" else None
    for target in targets if isinstance(targets, list) else ():
        found.append(Named("key", _text(target.get("sessionKey")) if isinstance(target, dict) else ""))
    return tuple(found)


def needs_directory(tool: str, named: Iterable[Named], gateway: OpenClawGateway) -> bool:
    """Whether the answer depends on more than the names."""
    if gateway.visibility == "all":
        return False
    if any(_key_of(one, Directory(), gateway) != gateway.own_key for one in named):
        return True
    return tool in _ROWS and gateway.visibility == "tree"


def why_forbidden(named: Iterable[Named], directory: Directory, gateway: OpenClawGateway) -> str:
    """What is told to a caller who reaches too far; "" if it does not."""
    if gateway.visibility == "all":
        return ""
    for one in named:
        if not is_visible(_key_of(one, directory, gateway), directory, gateway):
            scope = _SCOPES[gateway.visibility]
            setting = f'gateway.openclaw.visibility is "{gateway.visibility}"'
            return f"This session is not visible: only {scope} can be reached ({setting})."
    return ""


def is_visible(key: str, directory: Directory, gateway: OpenClawGateway) -> bool:
    own = gateway.own_key
    match gateway.visibility:
        case "all":
            return True
        case "agent":
            return key.startswith(f"agent:{gateway.own_agent}:")
        case "tree":
            return directory.is_below(key, own)
        case "self":
            return key == own


def forbidden(why: str) -> JsonObject:
    """The result of a call that was not made, as OpenClaw itself has it."""
    details: JsonObject = {"status": "forbidden", "error": why}
    content = [{"type": "text", "text": json.dumps(details, indent=2, ensure_ascii=False)}]
    return {"content": content, "structuredContent": details, "isError": True}


def filtered(tool: str, result: JsonObject, directory: Directory, gateway: OpenClawGateway) -> JsonObject:
    """The result without the rows of other sessions. Text is made anew of what is left."""
    place, details = _ROWS.get(tool), result.get("structuredContent")
    if place is None or gateway.visibility == "all":
        return result
    rows = details.get(place[0]) if isinstance(details, dict) else None
    if not isinstance(details, dict) or not isinstance(rows, list):
        return (
            result if result.get("isError") is True else forbidden("What it answered cannot be told apart by session.")
        )
    own = [row for row in rows if isinstance(row, dict) and is_visible(_text(row.get(place[1])), directory, gateway)]
    kept = [_trimmed(row, directory, gateway) for row in own]
    shown: JsonObject = {**details, place[0]: kept}
    if tool == "sessions_list":
        warning = f"Only {_SCOPES[gateway.visibility]} are listed; toolfold's configuration decides this."
        shown |= {
            "count": len(kept),
            "visibility": {"mode": gateway.visibility, "restricted": True, "warning": warning},
        }
    content = [{"type": "text", "text": json.dumps(shown, indent=2, ensure_ascii=False)}]
    return {**result, "content": content, "structuredContent": shown}


def _trimmed(row: JsonObject, directory: Directory, gateway: OpenClawGateway) -> JsonObject:
    """Without the keys of children and of a parent that are themselves not visible."""
    children = row.get("childSessions")
    if isinstance(children, list):
        row = {**row, "childSessions": [one for one in children if is_visible(str(one), directory, gateway)]}
    parent = row.get("parentSessionKey")
    if isinstance(parent, str) and not is_visible(parent, directory, gateway):
        row = {name: value for name, value in row.items() if name != "parentSessionKey"}
    return row


def _key_of(named: Named, directory: Directory, gateway: OpenClawGateway) -> str:
    """The whole key that a name stands for; "" for a label or an id that nobody is known to have."""
    if named.kind == "label":
        return directory.by_label.get(named.value, "")
    if named.kind == "id":
        return directory.by_id.get(named.value, "")
    if not named.value:
        return ""
    if named.value == "current":
        return gateway.own_key
    return directory.by_id.get(named.value) or whole_key(named.value, gateway.own_agent)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
