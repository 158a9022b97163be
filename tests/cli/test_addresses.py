"""The commands over an upstream at an address."""

from functools import partial
from pathlib import Path
from typing import Final

import anyio.to_thread

from tests.support.cli_runs import Ran, toolfold
from tests.support.http_stub import http_stub, status
from tests.support.upstreams import write_config

SECRET: Final = "hunter2-hunter2"


async def run(folder: Path, *arguments: str) -> Ran:
    """In a thread: the server of the test answers meanwhile."""
    return await anyio.to_thread.run_sync(partial(toolfold, folder, *arguments, GARDEN_TOKEN=SECRET))


async def test_an_address_is_checked_listed_called_and_shown(tmp_path: Path) -> None:
    async with http_stub() as stub:
        entry = {"url": stub.url, "headers": {"Authorization": "Bearer ${GARDEN_TOKEN}"}}
        write_config(tmp_path, {"garden": entry})
        check, probed = await run(tmp_path, "check", "--json"), await run(tmp_path, "check", "--probe", "--json")
        listed = await run(tmp_path, "list", "--json")
        called = await run(tmp_path, "call", "mcp:garden:echo", "--json")
        shown = await run(tmp_path, "config", "show", "--json")
    assert [(ran.code, ran.member("findings")) for ran in (check, probed)] == [(0, []), (0, [])]
    assert (listed.code, called.code) == (0, 0)
    assert "mcp:garden:echo" in listed.out
    assert '"echo"' in called.out
    assert {request.headers["authorization"] for request in stub.seen} == {f"Bearer {SECRET}"}
    assert SECRET not in "".join(ran.out + ran.err for ran in (check, probed, listed, called, shown))


async def test_a_probe_says_why_an_address_does_not_answer_and_what_to_do(tmp_path: Path) -> None:
    async with http_stub({"initialize": status(401), "GET": status(401)}) as stub:
        write_config(tmp_path, {"garden": {"url": f"{stub.url}?api_key=${{GARDEN_TOKEN}}"}})
        ran = await run(tmp_path, "check", "--probe", "--json")
    (finding,) = ran.member("findings")
    assert ran.code == 1
    assert finding["code"] == "does_not_start"
    assert finding["message"] == (
        "It does not start: it wants to know who asks, and took nothing it was given (HTTP 401)."
    )
    assert finding["fix"] == 'Give its entry "headers" with a token, or a "headersHelper" that prints them.'
    assert SECRET not in ran.out + ran.err
