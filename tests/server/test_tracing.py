"""OpenTelemetry: a span under the real tool's name, and the trace carried from the host to the upstream."""

import json
import os
from pathlib import Path

from tests.support.hosts import ROOT, open_host, part
from tests.support.upstreams import entry, received, write_config

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
META = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "a=b"}
TRACED = os.pathsep.join((str(ROOT / "tests/support/tracing"), str(ROOT)))


async def carried(folder: Path, added: dict[str, str]) -> dict[str, object]:
    """The `_meta` that an upstream gets of a traced call."""
    log = folder / "log"
    config = write_config(folder, {"one": entry(does={"echo": {"do": "echo"}}, log=str(log))})
    async with open_host(config, added=added) as host:
        await host.call("tool_call", {"id": "mcp:one:echo", "args": {"text": "x"}}, META)
    [call] = [message for message in received(log) if message.get("method") == "tools/call"]
    return part(call, "params", "_meta")


async def test_without_an_sdk_the_trace_context_of_the_host_goes_on_as_it_came(tmp_path: Path) -> None:
    meta = await carried(tmp_path, {})
    assert {key: meta[key] for key in META} == META


async def test_with_an_sdk_the_upstream_sees_the_span_of_the_real_tool(tmp_path: Path) -> None:
    spans = tmp_path / "spans"
    meta = await carried(tmp_path, {"PYTHONPATH": TRACED, "SPANS": str(spans)})
    told = [json.loads(line) for line in spans.read_text().splitlines()]
    [inner] = [span for span in told if span["name"] == "execute_tool echo"]
    [outer] = [span for span in told if span["span"] == inner["parent"]]
    assert (outer["trace"], outer["parent"]) == (TRACE, SPAN)
    assert (inner["trace"], inner["tool"]) == (TRACE, "echo")
    assert meta["traceparent"] == f"00-{TRACE}-{inner['span']}-01"
