"""The protocol's own conformance suite against `serve --http`. It has no way to reach a server over stdio.

It looks for fixed tools of a test server, so an upstream has them and publishes them directly, beside the three.
"""

import base64
import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.hosts.conftest import HOSTS, PROGRAMS, RUN_SECONDS, host_environment, serving
from tests.real.sample import ONE_PIXEL
from tests.support.raw_client import JsonObject
from tests.support.upstreams import Script, entry, write_config

pytestmark = pytest.mark.hosts

SUITE: Final = HOSTS / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

PASSES_IN_BOTH: Final = frozenset(
    {
        "dns-rebinding-protection",
        "server-sse-multiple-streams",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-error",
        "tools-call-image",
        "tools-call-mixed-content",
        "tools-call-simple-text",
        "tools-call-with-progress",
        "tools-list",
    }
)  # fmt: skip

PASSES: Final[Mapping[str, frozenset[str]]] = {
    "2025-11-25": PASSES_IN_BOTH | {
        "ping",
        "server-initialize",
        "server-session-lifecycle",
        "server-sse-polling",
    },
    "2026-07-28": PASSES_IN_BOTH | {
        "http-header-validation",
        "input-required-result-ignore-extra-params",
        "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
        "sep-2164-resource-not-found",
    },
}  # fmt: skip
"""By version of the protocol: the scenarios in which no check fails. Those of input-required results, of resources and of
polling pass with warnings: what they would try is not there.
"""

NO_RESOURCES: Final = "toolfold publishes tools and no resources"
NO_PROMPTS: Final = "toolfold publishes tools and no prompts"
ASKS: Final = "an upstream may ask a host for nothing but `ping`, so no call needs an answer of the host"
LOGS: Final = "upstreams' log messages are not passed on"
REWRITTEN: Final = (
    "directly published schemas are rewritten without references and combinators, which strict hosts refuse"
)
NO_HEADERS: Final = "toolfold publishes no tool whose arguments belong into headers, so there is nothing to try"

DOES_NOT_APPLY: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "caching": (
        "there are no lists of prompts and resources to be cached; those of tools say how long they hold",
        frozenset(
            {
                "sep-2549-prompts-list-caching-hints",
                "sep-2549-resources-list-caching-hints",
                "sep-2549-resources-templates-list-caching-hints",
            }
        ),
    ),
    "completion-complete": ("completion is for prompts and resources", frozenset({"completion-complete"})),
    "elicitation-sep1034-defaults": (ASKS, frozenset({"elicitation-sep1034-general"})),
    "elicitation-sep1330-enums": (ASKS, frozenset({"elicitation-sep1330-general"})),
    "http-custom-header-server-validation": (
        NO_HEADERS,
        frozenset(
            {
                "sep-2243-server-decode-base64",
                "sep-2243-server-no-xmcp-tool",
                "sep-2243-server-reject-invalid-param-chars",
                "sep-2243-server-reject-param-mismatch",
                "sep-2243-server-validate-param-match",
            }
        ),
    ),
    "input-required-result-basic-elicitation": (ASKS, frozenset({"sep-2322-elicitation-incomplete"})),
    "input-required-result-basic-list-roots": (ASKS, frozenset({"sep-2322-list-roots-incomplete"})),
    "input-required-result-basic-sampling": (ASKS, frozenset({"sep-2322-sampling-incomplete"})),
    "input-required-result-capability-check": (ASKS, frozenset({"sep-2322-respect-client-capabilities"})),
    "input-required-result-multi-round": (ASKS, frozenset({"sep-2322-multi-round-r1"})),
    "input-required-result-multiple-input-requests": (ASKS, frozenset({"sep-2322-multiple-inputs-incomplete"})),
    "input-required-result-non-tool-request": (ASKS, frozenset({"sep-2322-non-tool-incomplete"})),
    "input-required-result-request-state": (ASKS, frozenset({"sep-2322-request-state-incomplete"})),
    "input-required-result-result-type": (ASKS, frozenset({"sep-2322-result-type-included"})),
    "input-required-result-tampered-state": (ASKS, frozenset({"sep-2322-reject-tampered-state"})),
    "json-schema-2020-12": (
        REWRITTEN,
        frozenset(
            {
                "json-schema-2020-12-$defs",
                "json-schema-2020-12-$schema",
                "sep-2106-anchor-keyword-preserved",
                "sep-2106-composition-keywords-preserved",
                "sep-2106-conditional-keywords-preserved",
            }
        ),
    ),
    "logging-set-level": (LOGS, frozenset({"logging-set-level"})),
    "prompts-get-embedded-resource": (NO_PROMPTS, frozenset({"prompts-get-embedded-resource"})),
    "prompts-get-simple": (NO_PROMPTS, frozenset({"prompts-get-simple"})),
    "prompts-get-with-args": (NO_PROMPTS, frozenset({"prompts-get-with-args"})),
    "prompts-get-with-image": (NO_PROMPTS, frozenset({"prompts-get-with-image"})),
    "prompts-list": (NO_PROMPTS, frozenset({"prompts-list"})),
    "resources-list": (NO_RESOURCES, frozenset({"resources-list"})),
    "resources-read-binary": (NO_RESOURCES, frozenset({"resources-read-binary"})),
    "resources-read-text": (NO_RESOURCES, frozenset({"resources-read-text"})),
    "resources-subscribe": (NO_RESOURCES, frozenset({"resources-subscribe"})),
    "resources-templates-read": (NO_RESOURCES, frozenset({"resources-templates-read"})),
    "resources-unsubscribe": (NO_RESOURCES, frozenset({"resources-unsubscribe"})),
    "server-stateless": (
        ASKS,
        frozenset({"sep-2575-missing-capability-http-400", "sep-2575-server-rejects-undeclared-capability"}),
    ),
    "tools-call-elicitation": (ASKS, frozenset({"tools-call-elicitation"})),
    "tools-call-sampling": (ASKS, frozenset({"tools-call-sampling"})),
    "tools-call-with-logging": (LOGS, frozenset({"tools-call-with-logging"})),
}
"""Why not, and which checks of the scenario fail for it."""


def _result(*content: JsonObject) -> Script:
    return {"do": "result", "result": {"content": list(content)}}


def _tools() -> dict[str, Script]:
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
        "test_trigger_tool_change": [{"do": "change", "adds": "test_added"}, {"do": "text", "text": "done"}],
    }


STREET: Final[JsonObject] = {"street": {"type": "string"}, "city": {"type": "string"}}
SCHEMA: Final[JsonObject] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "address", "type": "object", "properties": STREET}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
    "if": {"required": ["address"]},
    "then": {"required": ["name"]},
    "else": {},
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Run:
    """What the suite has checked for one version, by scenario."""

    version: str
    checks: Mapping[str, list[JsonObject]]

    def failures(self, scenario: str) -> set[object]:
        return {check["id"] for check in self.checks[scenario] if check["status"] == "FAILURE"}


@pytest.fixture(scope="module")
def url(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    schemas = [{"name": "json_schema_2020_12_tool", "description": "Takes an address.", "inputSchema": SCHEMA}]
    published = {**entry(tools=schemas, does=_tools()), "alwaysLoad": True}
    with serving(write_config(tmp_path_factory.mktemp("toolfold"), {"suite": published})) as url:
        yield url


@pytest.fixture(scope="module", params=sorted(PASSES))
def run(request: pytest.FixtureRequest, url: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    version, results = request.param, tmp_path_factory.mktemp("results")
    options = ("--url", url, "--suite", "all", "--spec-version", version, "--output-dir", results)
    subprocess.run(
        [PROGRAMS / "node", SUITE, "server", *options],
        cwd=results, env=host_environment(results), capture_output=True, timeout=RUN_SECONDS, check=False,
    )  # fmt: skip
    files = results.glob("*/checks.json")
    return Run(version, {_scenario(file): json.loads(file.read_text(encoding="utf-8")) for file in files})


def _scenario(file: Path) -> str:
    """Out of `server-NAME-2026-11-30T13-28-54-807Z`."""
    return file.parent.name.removeprefix("server-").rpartition("T")[0].rsplit("-", 3)[0]


def test_every_scenario_passes_that_applies(run: Run) -> None:
    assert {scenario for scenario in run.checks if not run.failures(scenario)} == PASSES[run.version]


def test_of_the_others_nothing_fails_but_what_does_not_apply(run: Run) -> None:
    others = run.checks.keys() - PASSES[run.version]
    tried = {
        scenario: {check["id"] for check in run.checks[scenario] if check["status"] != "SKIPPED"} for scenario in others
    }
    expected = {scenario: set(DOES_NOT_APPLY[scenario][1]) & tried[scenario] for scenario in others}
    assert {scenario: run.failures(scenario) for scenario in others} == expected


def test_a_host_that_listens_hears_of_a_tool_that_an_upstream_adds(run: Run) -> None:
    heard = "sep-2575-server-sends-tools-list-changed-on-subscription"
    statuses = {check["status"] for check in run.checks.get("server-stateless", []) if check["id"] == heard}
    assert statuses == ({"SUCCESS"} if run.version == "2026-07-28" else set())
