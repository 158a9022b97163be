"""server-everything at an address: each of its tools is called over both transports, and answers as it does over a pipe."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.real.cases import CALLED, Case, steady
from tests.real.conftest import EVERYTHING_JS, KINDS, TOOLFOLD, listening
from tests.support.raw_client import JsonObject, RawClient, wait_for_upstreams
from tests.support.upstreams import write_config

pytestmark = pytest.mark.real

OF_A_SESSION: Final = ("get-env", "toggle-simulated-logging", "toggle-subscriber-updates")
"""What these answer is each process's or each session's own."""

EVERYTHING: Final = [case for case in CALLED if case.tool_id.startswith("mcp:everything:")]
CASES: Final = [case for case in EVERYTHING if not case.tool_id.endswith(OF_A_SESSION)]


@pytest.fixture(scope="module")
def remote(installed: None, node: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """toolfold with the same server three times: over a pipe, and at an address of each transport."""
    folder = tmp_path_factory.mktemp("addresses")
    folders = {"TOOLFOLD_CACHE_DIR": str(folder / "cache"), "TOOLFOLD_STATE_DIR": str(folder / "state")}
    with ExitStack() as stack:
        servers: dict[str, JsonObject] = {kind: {"url": stack.enter_context(listening(node, kind))} for kind in KINDS}
        servers["pipe"] = {"command": node, "args": [str(EVERYTHING_JS)]}
        config: Path = write_config(folder, servers)
        command = [str(TOOLFOLD), "serve", "--config", str(config)]
        client = stack.enter_context(RawClient(command, {**os.environ, **folders}))
        client.greet()
        wait_for_upstreams(client)
        yield client


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool_id.split(':')[2]} {json.dumps(case.arguments)}")
def test_a_tool_answers_at_an_address_as_over_a_pipe(remote: RawClient, kind: str, case: Case) -> None:
    name = case.tool_id.split(":")[2]
    at_address, over_pipe = (
        json.dumps(remote.call("tool_call", {"id": f"mcp:{owner}:{name}", "args": case.arguments})).replace(
            f"mcp:{owner}:", "mcp:everything:"
        )
        for owner in (kind, "pipe")
    )
    assert steady(case.tool_id, at_address) == steady(case.tool_id, over_pipe)
    assert "upstream_" not in at_address


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OF_A_SESSION)
def test_what_belongs_to_a_session_is_answered_too(remote: RawClient, kind: str, name: str) -> None:
    answer = remote.call("tool_call", {"id": f"mcp:{kind}:{name}", "args": {}})
    assert answer.get("isError") is not True
