"""Text that UTF-8 can't say, half of a surrogate pair: over HTTP a call that has it is answered, with a mark for it."""

from pathlib import Path

import anyio
import pytest

from tests.support.hosts import part
from tests.support.http_gateways import call_request, http_client, open_http_gateway, open_session
from tests.support.upstreams import Script, entry, write_config

HALF = "half \ud83d of a pair"
ANSWER = {"do": "result", "result": {"content": [{"type": "text", "text": HALF}]}}


@pytest.mark.parametrize("script", [ANSWER, [{"do": "progress", "steps": 1, "text": HALF}, ANSWER]])
async def test_half_a_character_of_an_upstream_costs_nobody_an_answer(tmp_path: Path, script: Script) -> None:
    config = write_config(tmp_path, {"one": entry(does={"odd": script})})
    async with open_http_gateway(config) as served, http_client() as client:
        headers = await open_session(client, served.url)
        call = call_request("mcp:one:odd", {})
        call["params"] = {**part(call, "params"), "_meta": {"progressToken": "mine"}}
        with anyio.fail_after(30):
            response = await client.post(served.url, json=call, headers=headers)
    lines = [line for line in response.text.splitlines() if '"result"' in line]
    assert len(lines) == 1, response.text
    assert "half ? of a pair" in lines[0]
