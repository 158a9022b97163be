"""The JSON Schema of a configuration file, made out of the models that read it. `mcp.schema.json` beside it is its text.

Editors use it to complete and to explain; nothing here is used to read a file. Whatever it does not know is allowed:
files of other hosts are valid as they are.
"""

import json
from collections.abc import Mapping
from importlib import resources

from server.config.entry_input import EntryInput
from server.config.keys import ALIASES, OPENCLAW, URL_KEYS, WAITS
from server.config.openclaw import OpenClawInput
from server.config.sections import JsonObject
from server.config.settings import GatewaySettings

DIALECT = "https://json-schema.org/draft/2020-12/schema"
IDENTITY = "urn:toolfold:mcp.schema.json"
FILE_NAME = "mcp.schema.json"

_DEFINITIONS = "#/$defs/{model}"

# What a key is for, as an editor shows it. Every key of the models has its line.
DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "Server": {
        "type": "How the server is reached: stdio, http or sse. Left out, it follows from `command` or `url`.",
        "command": "The program to start, or a list of it and its arguments.",
        "args": "The arguments of the program.",
        "env": "Environment variables for the program. ${NAME}, ${NAME:-default} and ${input:id} are expanded.",
        "envFile": "A file of NAME=value lines for the program's environment; relative to this file.",
        "passEnv": "Variables of toolfold's own environment that the program gets too: names or globs.",
        "cwd": "The program's working folder; relative to this file.",
        "url": "The address of a server that is not started but connected to.",
        "headers": "Headers for every request to that address, and to no other.",
        "headersHelper": "A command line that prints a JSON object of more headers. From a file in the home folder only.",
        "timeout": "How long a call may go without progress, in milliseconds. Below 1000 it counts seconds.",
        "totalTimeout": "How long a call may take in all, in milliseconds.",
        "startupTimeout": "How long the server may take to start, in milliseconds.",
        "disabled": "Whether the server is left out.",
        "description": "What the server is for; a model reads it.",
        "includeTools": "The tools that are let through: names or globs. All, if left out.",
        "excludeTools": "The tools that are left out: names or globs. It wins over `includeTools`.",
        "alwaysLoad": "Whether the server's tools are published by themselves instead of being searched for.",
        "trusted": "Whether the server's parameter and result descriptions are shown as it gives them.",
        "hints": "Whether hints about a tool are added to search results.",
        "protocol": "The era of the protocol that is spoken with the server.",
        "gateway": "Whether the server is a gateway too. Found out, if left out; true also lets toolfold start toolfold.",
        "idleStopSeconds": "Seconds without a call after which the server is stopped until the next one. 0: never.",
    },
    "Gateway": {
        "toolSearch": "How tools are found. true means mode code, false publishes every tool by itself.",
        "clientTools": "Tools that the host runs itself: they are found here and called there.",
        "directTools": "Tools that are published by themselves: ids or globs over ids.",
        "policy": "Which tools can be reached.",
        "profiles": "What callers of one kind may do: those of `serve --profile`, of a token, or of a client's name.",
        "hooks": "Programs of the operator that are asked.",
        "startup": "How servers are started.",
        "limits": "Sizes and waits.",
        "log": "What is written to standard error, and where session logs are kept.",
        "http": "Who may use `toolfold serve --http`.",
        "hints": "The default of `hints` for every server.",
        "openclaw": "An OpenClaw Gateway, whose tools are in the catalogue like any other's.",
        "semantic": "Whether search goes by meaning too, beside words. Needs the extra toolfold[semantic].",
        "pins": "What becomes of tools that an upstream changes or adds after its first listing: pointed out, held back "
        "until `toolfold trust` accepts them, or nothing.",
    },
    "ToolSearchSettings": {
        "mode": "tools publishes search, describe and call; code one tool that runs JavaScript in an isolated Node; "
        "directory a directory of names beside the three; auto every tool by itself as long as that is cheap.",
        "codeTimeoutMs": "How long code may run, in mode code.",
        "searchDefaultLimit": "How many results a search gives that does not say.",
        "maxSearchLimit": "How many results a search may ask for.",
        "autoAboveTokens": "Mode auto folds a catalogue that would cost more tokens than this up front.",
        "directory": "For mode directory.",
    },
    "DirectorySettings": {
        "schemas": "Ids of up to 12 tools that are published in full.",
        "instructionsCharacters": "How long the instructions may be, directory included. Some hosts cut at 2048.",
    },
    "ClientTool": {
        "name": "What the host calls it by.",
        "description": "What it does; a model reads it.",
        "inputSchema": "The JSON Schema of its arguments.",
    },
    "PolicySettings": {
        "allow": "Ids or globs over ids. What none of them matches cannot be reached.",
        "deny": "Ids or globs over ids. It wins over `allow`.",
        "ask": "Ids or globs over ids. Such a tool is run once a person has agreed.",
        "block": "Ids or globs over ids. Such a tool can be found and read about, and is never run.",
        "ownerOnly": "Ids or globs over ids. Such a tool is there for callers under no profile alone.",
        "readOnly": "Ids or globs over ids of tools that only read, for the profiles of which `readOnly` is true.",
    },
    "ProfileSettings": {
        "allow": "Ids or globs over ids. Under this profile, nothing else is there.",
        "deny": "Ids or globs over ids. It wins over `allow`.",
        "ask": "Ids or globs over ids. Such a tool is run once a person has agreed.",
        "block": "Ids or globs over ids. Such a tool can be found and read about, and is never run.",
        "readOnly": "Whether only tools are there that `policy.readOnly` or a trusted server says to read only.",
        "clients": "Names or globs over names that clients give themselves. They fall under this profile, too.",
    },
    "HookSettings": {
        "beforeCall": "A command line (the program and its arguments) or one module:function, asked before each call. "
        "It gets id, arguments and caller as JSON, and answers allow, block with a reason, or allow with other arguments. "
        "From a file in the home folder only.",
        "timeoutMs": "How long it may take. One that takes longer blocks the call.",
    },
    "TokenSettings": {
        "hash": "sha256: with the hash of the token.",
        "profile": "The profile of whoever has the token.",
    },
    "StartupSettings": {
        "mode": "eager starts all servers at once, lazy each of them when it is needed.",
        "idleStopSeconds": "Seconds without a call after which a server is stopped until the next one. 0: never.",
        "concurrency": "How many servers start at the same time. By the number of cores, if left out.",
        "timeoutMs": "How long a server may take to start.",
    },
    "LimitSettings": {
        "lineBytes": "The longest message that is read from a server.",
        "resultBytes": "The longest result that is passed on whole.",
        "callIdleMs": "How long a call may go without progress.",
        "callTotalMs": "How long a call may take in all.",
    },
    "HttpSettings": {
        "tokens": "A name for each bearer token, and sha256: with the hash of the token. Never the token itself.",
        "allowHosts": "Host names under which this server is reached, besides its own address and localhost.",
    },
    "OpenClaw": {
        "url": "The Gateway's address. On this machine, at OpenClaw's own port, if left out.",
        "token": "The Gateway's token, as ${NAME}. Left out: what OPENCLAW_GATEWAY_TOKEN holds.",
        "password": "The Gateway's password, as ${NAME}, where it asks for one instead of a token.",
        "sessionKey": "The session on whose behalf tools are called.",
        "agentId": "The agent whose tools they are. The default agent, if left out.",
        "allow": "Tools that you have opened in OpenClaw's own gateway.tools.allow, such as sessions_send.",
        "deny": "Tools that are left out: names or globs.",
        "profile": "The set of tools that is let through: minimal, coding, messaging or full.",
        "alsoAllow": "Tools that are let through although the profile does not have them.",
        "visibility": "The sessions that can be seen: self, tree (and those it started), agent, or all.",
        "sanitizeHistory": "Whether scaffolding and secrets are taken out of what sessions_history answers.",
        "schemas": "live asks the Gateway for its tools' parameters where it can; bundled never does.",
        "timeout": "How long a call may take, in milliseconds.",
        "disabled": "Whether the Gateway is left out.",
    },
    "LogSettings": {
        "level": "The least severe messages that are written to standard error.",
        "sessionDir": "The folder of the session logs: a whole path, or one within the state folder. false keeps none.",
        "arguments": "Always redacted: no log holds what a tool was called with.",
    },
}

_INPUT: JsonObject = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "description": "The name in ${input:id}, and in TOOLFOLD_INPUT_<ID>."},
        "type": {"type": "string", "examples": ["promptString", "pickString"]},
        "description": {"type": "string"},
        "password": {"type": "boolean", "description": "Whether it is a secret."},
        "default": {"type": "string"},
        "options": {"type": "array"},
    },
}


def document() -> JsonObject:
    """The schema, a new one at each call."""
    server = EntryInput.model_json_schema(ref_template=_DEFINITIONS)
    gateway = GatewaySettings.model_json_schema(ref_template=_DEFINITIONS)
    openclaw = OpenClawInput.model_json_schema(ref_template=_DEFINITIONS)
    written = {**gateway.pop("$defs"), "Gateway": gateway, "OpenClaw": openclaw, "Server": server}
    _write_as_in_a_file(written["ToolSearchSettings"])
    definitions = {name: _described(name, written[name]) for name in sorted(written)}
    definitions["Server"]["x-also-read"] = _also_read()
    definitions["ToolSearch"] = {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/ToolSearchSettings"}]}
    tool_search = {"$ref": "#/$defs/ToolSearch", "description": DESCRIPTIONS["Gateway"]["toolSearch"]}
    either = {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/OpenClaw"}]}
    beside = {"toolSearch": tool_search, OPENCLAW: {"description": DESCRIPTIONS["Gateway"][OPENCLAW], **either}}
    definitions["Gateway"]["properties"] = {**_properties(definitions["Gateway"]), **beside}
    return {
        "$schema": DIALECT,
        "$id": IDENTITY,
        "title": "toolfold",
        "description": "Which MCP servers stand behind toolfold, and how it treats them.",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            "mcpServers": {
                "description": "The servers, by the names that their tools' ids begin with.",
                "anyOf": [
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/Server"}},
                    {"type": "array", "items": {"$ref": "#/$defs/Server", "required": ["name"]}},
                ],
            },
            "gateway": {"$ref": "#/$defs/Gateway", "description": "What is toolfold's own."},
            "toolSearch": tool_search,
            "inputs": {"type": "array", "items": _INPUT, "description": "What ${input:id} refers to."},
        },
        "$defs": definitions,
    }


def shipped() -> str:
    """The file beside this module. A test holds it and the models together."""
    return resources.files(__package__).joinpath(FILE_NAME).read_text(encoding="utf-8")


def text() -> str:
    """The schema as the file has it."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def _write_as_in_a_file(tool_search: JsonObject) -> None:
    """The settings know a mode that no object says, and an object that names none means another than the default."""
    properties = _properties(tool_search)
    modes = properties.pop("mode")["enum"]
    assert isinstance(modes, list)
    modes = [name for name in modes if name != "off"]
    tool_search["properties"] = {"mode": {"enum": modes, "type": "string", "default": "code"}, **properties}


def _described(name: str, model: JsonObject) -> JsonObject:
    """With our words, and without what pydantic makes of the Python names."""
    return {
        "type": "object",
        "properties": {
            key: {"description": DESCRIPTIONS[name][key], **_without_noise(schema)}
            for key, schema in _properties(model).items()
        },
    }


def _without_noise(schema: Mapping[str, object]) -> JsonObject:
    noise = {"title"} if "$ref" not in schema else {"title", "default"}
    says_nothing: list[tuple[str, object]] = [("default", None), ("default", ""), ("default", [])]
    return {key: value for key, value in schema.items() if key not in noise and (key, value) not in says_nothing}


def _properties(model: JsonObject) -> dict[str, JsonObject]:
    properties = model["properties"]
    assert isinstance(properties, dict)
    return properties


def _also_read() -> JsonObject:
    """Other hosts' names of a key, for whoever wonders why theirs works."""
    names = {**ALIASES, **dict.fromkeys(URL_KEYS, "url"), **{key: ours for key, (ours, _) in WAITS.items()}}
    return {key: names[key] for key in sorted(names) if key != names[key]}
