"""The protocol's own conformance suite against `serve --http`. It has no way to reach a server over stdio.

It looks for fixed tools of a test server, so an upstream has them and publishes them directly, beside the three.
"""

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.hosts.conftest import HOSTS, PROGRAMS, RUN_SECONDS, host_environment, serving
from tests.real.sample import ONE_PIXEL
from tests.support.raw_client import JsonObject
from tests.support.upstreams import Script, entry, write_config

pytestmark = pytest.mark.hosts

SUITE: Final = HOSTS / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

PASSES: Final = frozenset(
    {
        "dns-rebinding-protection", "ping", "server-initialize", "server-sse-multiple-streams", "tools-call-audio",
        "tools-call-embedded-resource", "tools-call-error", "tools-call-image", "tools-call-mixed-content",
        "tools-call-simple-text", "tools-call-with-progress", "tools-list",
    }
)  # fmt: skip

NO_RESOURCES: Final = "toolfold publishes tools and no resources"
NO_PROMPTS: Final = "toolfold publishes tools and no prompts"
ASKS: Final = "an upstream may ask a host for nothing but `ping`"
DOES_NOT_APPLY: Final = {
    "completion-complete": "completion is for prompts and resources",
    "elicitation-sep1034-defaults": ASKS,
    "elicitation-sep1330-enums": ASKS,
    "json-schema-2020-12": "directly published schemas are rewritten without references: strict hosts refuse `$defs`",
    "logging-set-level": "upstreams' log messages are not passed on",
    "prompts-get-embedded-resource": NO_PROMPTS,
    "prompts-get-simple": NO_PROMPTS,
    "prompts-get-with-args": NO_PROMPTS,
    "prompts-get-with-image": NO_PROMPTS,
    "prompts-list": NO_PROMPTS,
    "resources-list": NO_RESOURCES,
    "resources-read-binary": NO_RESOURCES,
    "resources-read-text": NO_RESOURCES,
    "resources-subscribe": NO_RESOURCES,
    "resources-templates-read": NO_RESOURCES,
    "resources-unsubscribe": NO_RESOURCES,
    "server-sse-polling": "no stream is closed during a call, so there is nothing to poll for; it makes no check then",
    "tools-call-elicitation": ASKS,
    "tools-call-sampling": ASKS,
    "tools-call-with-logging": "upstreams' log messages are not passed on",
}

PORTABLE: Final = {"json-schema-2020-12-$schema", "json-schema-2020-12-$defs"}
"""What of that scenario's checks fails for the reason given; its others pass."""


def _result(*content: JsonObject) -> Script:
    return {"do": "result", "result": {"content": list(content)}}


def _tools() -> dict[str, Script]:
    import base64

    text: JsonObject = {"type": "text", "text": "Several kinds."}
    image: JsonObject = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(ONE_PIXEL).decode()}
    audio: JsonObject = {"type": "audio", "mimeType": "audio/wav", "data": base64.b64encode(b"RIFF").decode()}
    leaf: JsonObject = {"uri": "test://leaf", "mimeType": "text/plain", "text": "green"}
    resource: JsonObject = {"type": "resource", "resource": leaf}
    message = {"do": "notify", "method": "notifications/message", "params": {"level": "info", "data": "at work"}}
    return {
        "test_simple_text": {"do": "text", "text": "Simple."},
        "test_image_content": _result(image),
        "test_audio_content": _result(audio),
        "test_embedded_resource": _result(resource),
        "test_multiple_content_types": _result(text, image, resource),
        "test_error_handling": {"do": "error", "text": "It is meant to fail."},
        "test_tool_with_progress": [{"do": "progress", "steps": 3}, {"do": "text", "text": "done"}],
        "test_tool_with_logging": [{**message, "times": 3}, {"do": "text", "text": "done"}],
        "test_reconnection": {"do": "text", "text": "done"},
    }


SCHEMA: Final[JsonObject] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def checks(installed: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[JsonObject]]:
    """By scenario: what the suite has checked."""
    folder, results = tmp_path_factory.mktemp("toolfold"), tmp_path_factory.mktemp("results")
    schemas = [{"name": "json_schema_2020_12_tool", "description": "Takes an address.", "inputSchema": SCHEMA}]
    config = write_config(folder, {"suite": {**entry(tools=schemas, does=_tools()), "alwaysLoad": True}})
    with serving(config) as url:
        subprocess.run(
            [PROGRAMS / "node", SUITE, "server", "--url", url, "--suite", "all", "--output-dir", results],
            cwd=folder, env=host_environment(folder), capture_output=True, timeout=RUN_SECONDS, check=False,
        )  # fmt: skip
    return {_scenario(file): json.loads(file.read_text(encoding="utf-8")) for file in results.glob("*/checks.json")}


def _scenario(file: Path) -> str:
    """Out of `server-NAME-2026-11-30T13-28-54-807Z`."""
    return file.parent.name.removeprefix("server-").rpartition("T")[0].rsplit("-", 3)[0]


def failures(checks: list[JsonObject]) -> set[object]:
    return {check["id"] for check in checks if check["status"] == "FAILURE"}


def test_the_suite_has_the_scenarios_that_are_known(checks: dict[str, list[JsonObject]]) -> None:
    assert set(checks) == PASSES | set(DOES_NOT_APPLY)


@pytest.mark.parametrize("scenario", sorted(PASSES))
def test_a_scenario_passes(checks: dict[str, list[JsonObject]], scenario: str) -> None:
    statuses = {check["status"] for check in checks[scenario]}
    assert statuses <= {"SUCCESS", "INFO"}
    assert "SUCCESS" in statuses


@pytest.mark.parametrize("scenario", sorted(DOES_NOT_APPLY))
def test_a_scenario_that_does_not_apply_has_not_begun_to_pass(
    checks: dict[str, list[JsonObject]], scenario: str
) -> None:
    assert "SUCCESS" not in {check["status"] for check in checks[scenario]} or failures(checks[scenario]) == PORTABLE
