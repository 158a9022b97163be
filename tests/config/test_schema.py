import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from server.config import GatewaySettings
from server.config.entry_input import EntryInput
from server.config.openclaw import OpenClawInput
from server.config.schema import DESCRIPTIONS, DIALECT, FILE_NAME, document, text
from server.config.sections import JsonObject, keys_of
from server.config.settings import (
    ClientTool,
    DirectorySettings,
    HttpSettings,
    LimitSettings,
    LogSettings,
    PolicySettings,
    Section,
    StartupSettings,
)
from server.config.text import parse

PROJECT = Path(__file__).parents[2]
EXAMPLE = PROJECT / "mcp.json.example"
MODELS: tuple[tuple[str, type[Section]], ...] = (
    ("Server", EntryInput),
    ("OpenClaw", OpenClawInput),
    ("PolicySettings", PolicySettings),
    ("StartupSettings", StartupSettings),
    ("LimitSettings", LimitSettings),
    ("LogSettings", LogSettings),
    ("HttpSettings", HttpSettings),
    ("DirectorySettings", DirectorySettings),
    ("ClientTool", ClientTool),
)


def errors(value: object) -> list[str]:
    return [error.json_path for error in Draft202012Validator(document()).iter_errors(value)]


def test_the_file_that_is_shipped_is_the_schema_of_the_models() -> None:
    shipped = resources.files("server.config").joinpath(FILE_NAME).read_text(encoding="utf-8")
    assert shipped == text(), "Run: make schema"
    assert json.loads(shipped) == document()


def test_the_schema_is_a_valid_one_of_its_dialect() -> None:
    schema = document()
    assert schema["$schema"] == DIALECT
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(("name", "model"), MODELS, ids=lambda each: each if isinstance(each, str) else "")
def test_every_key_of_a_model_is_there_and_described(name: str, model: type[Section]) -> None:
    definitions = document()["$defs"]
    assert isinstance(definitions, dict)
    assert definitions[name]["properties"].keys() == keys_of(model) == DESCRIPTIONS[name].keys()


def test_the_gateway_has_its_settings_and_an_upstream_of_its_own() -> None:
    definitions = document()["$defs"]
    assert isinstance(definitions, dict)
    keys = definitions["Gateway"]["properties"].keys()
    assert keys == keys_of(GatewaySettings) | {"openclaw"} == DESCRIPTIONS["Gateway"].keys()


def strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *strings(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def test_no_name_of_the_code_is_in_it() -> None:
    assert not {"requestedMode", "requested_mode", "EntryInput", "title"} & {*strings(document()["$defs"])}


def test_the_example_names_the_schema_and_is_valid() -> None:
    example = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    assert (EXAMPLE.parent / example["$schema"]).resolve() == PROJECT / "server/config" / FILE_NAME
    assert errors(example) == []


@pytest.mark.parametrize(
    "name",
    [
        "antigravity.json", "claude-code.json", "claude-desktop.json", "cline.json", "copilot-cli.json", "cursor.json",
        "gemini.json", "lm-studio.json", "mcporter.jsonc", "roo.json", "windsurf.json", "vscode.json", "zed.json",
    ],
)  # fmt: skip
def test_files_of_other_hosts_are_valid(name: str) -> None:
    assert errors(parse((Path(__file__).parent / "dialects" / name).read_text(encoding="utf-8")).value) == []


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"mcpServers": {"a": {"command": 3}}}, "$.mcpServers"),
        ({"mcpServers": [{"command": "x"}]}, "$.mcpServers"),
        ({"gateway": {"limits": {"lineBytes": 1}}}, "$.gateway.limits.lineBytes"),
        ({"gateway": {"startup": {"concurrency": 1000}}}, "$.gateway.startup.concurrency"),
        ({"gateway": {"toolSearch": {"mode": "off"}}}, "$.gateway.toolSearch"),
        ({"gateway": {"policy": {"deny": [1]}}}, "$.gateway.policy.deny"),
        ({"inputs": [{}]}, "$.inputs[0]"),
    ],
)
def test_what_would_be_warned_about_is_not_valid(value: JsonObject, place: str) -> None:
    assert errors(value) == [place]


def test_shorthands_are_valid() -> None:
    assert errors({"toolSearch": True, "gateway": {"toolSearch": False, "directTools": "mcp:a:b"}}) == []
    assert errors({"mcpServers": [{"name": "a", "command": ["x"], "env": {"A": 1}}], "theme": "x"}) == []
