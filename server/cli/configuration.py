"""`toolfold config path` and `config show`: which file is read, and what it amounts to. No secret is printed."""

from collections.abc import Mapping
from pathlib import Path

import typer

from server.cli import rendering
from server.cli.configured import Configured, configured
from server.cli.exits import ExitCode
from server.cli.options import AsJson, ConfigFiles
from server.cli.output import reporting
from server.config import OpenClaw, Remote, ServerEntry, find_config, read_environment
from server.config.child import inherited
from server.redaction import MASK, Redactor
from upstream_clients import JsonObject

LOOKED_AT = (
    "There is no configuration yet. toolfold looks for the file that $TOOLFOLD_CONFIG names, for mcp.json and .mcp.json "
    "in the working folder, and for toolfold/mcp.json in your configuration folder ($XDG_CONFIG_HOME, else ~/.config; on "
    "macOS ~/Library/Application Support). Write one there, or give --config FILE."
)


def path(as_json: AsJson = False) -> None:
    """Print the path of the configuration that is read here when no --config names one."""
    with reporting(as_json=as_json) as output:
        found = find_config(read_environment(), Path.cwd())
        if as_json:
            output.json({"path": None if found is None else str(found)})
        elif found is not None:
            output.line(str(found))
        if found is None or not found.is_file():
            output.say(LOOKED_AT if found is None else "It does not exist. $TOOLFOLD_CONFIG names it.")
            raise typer.Exit(ExitCode.CONFIGURATION)


def schema(as_json: AsJson = False) -> None:
    """Print the JSON Schema (2020-12) of the configuration, which `$schema` in a file may name for editors.

    It is one JSON document with and without --json.
    """
    from server.config.schema import shipped  # the models of the schema, which nothing else here needs

    with reporting(as_json=as_json) as output:
        output.verbatim(shipped())


def show(config: ConfigFiles = None, as_json: AsJson = False) -> None:
    """Show the configuration in force: every upstream, and the gateway's settings with their defaults.

    Values of environment variables are never printed, and known secrets in arguments are masked.
    """
    with reporting(as_json=as_json) as output:
        document = _described(configured(config or []))
        if as_json:
            output.json(document)
        else:
            rendering.settings(document, output)


def _described(found: Configured) -> JsonObject:
    settings, everywhere = found.settings, inherited(found.environ)
    redact = Redactor(secret for server in settings.servers for secret in server.secrets)
    gateway = settings.gateway.model_dump(mode="json", by_alias=True)
    for server in settings.servers:
        if server.openclaw is not None:
            gateway["openclaw"] = _openclaw(server, server.openclaw, redact)
    entries = [server for server in settings.servers if server.openclaw is None]
    return {
        "files": [str(source) for source in settings.sources],
        "mcpServers": {server.key: _entry(server, everywhere, redact) for server in entries},
        "gateway": gateway,
    }


def _entry(server: ServerEntry, everywhere: Mapping[str, str], redact: Redactor) -> JsonObject:
    """An entry as a file would have it, without what is not set and without the variables that every child gets."""
    given = sorted(name for name, value in server.env.items() if everywhere.get(name) != value)
    entry: JsonObject = {
        "owner": server.owner if server.owner != server.key else "",
        "problem": redact(server.problem),
        "disabled": server.disabled,
        "command": redact(server.command),
        "args": [redact(argument) for argument in server.args],
        "cwd": redact(server.cwd or ""),
        **(_remote(server.remote, redact) if server.remote else {}),
        "env": dict.fromkeys(given, MASK),
        "description": redact(server.description),
        "timeout": _milliseconds(server.timeout_seconds),
        "totalTimeout": _milliseconds(server.total_timeout_seconds),
        "startupTimeout": _milliseconds(server.start_timeout_seconds),
        "includeTools": list(server.include_tools),
        "excludeTools": list(server.exclude_tools),
        "alwaysLoad": server.always_load,
        "trusted": server.trusted,
        "hints": server.hints if server.hints != "off" else "",
        "protocol": server.protocol if server.protocol != "legacy" else "",
    }
    return {key: value for key, value in entry.items() if value}


def _openclaw(server: ServerEntry, gateway: OpenClaw, redact: Redactor) -> JsonObject:
    shown: JsonObject = {
        "problem": redact(server.problem),
        "disabled": server.disabled,
        "url": redact(gateway.url),
        ("password" if gateway.is_password else "token"): MASK if gateway.secret else "",
        "sessionKey": gateway.session_key,
        "agentId": gateway.agent_id,
        "allow": list(gateway.allow),
        "deny": list(gateway.deny),
        "profile": gateway.profile,
        "alsoAllow": list(gateway.also_allow),
        "visibility": gateway.visibility,
        "schemas": gateway.schemas,
        "timeout": _milliseconds(server.timeout_seconds),
    }
    return {key: value for key, value in shown.items() if value} | {"sanitizeHistory": gateway.sanitizes}


def _remote(remote: Remote, redact: Redactor) -> JsonObject:
    return {
        "type": remote.transport if remote.transport != "auto" else "",
        "url": redact(remote.url),
        "headers": dict.fromkeys(sorted(remote.headers), MASK),
        "headersHelper": [redact(argument) for argument in remote.headers_helper],
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
