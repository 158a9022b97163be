"""Edits of the configuration of a real `toolfold serve`, over standard input and over HTTP: what its hosts notice."""

import json
from hashlib import sha256
from pathlib import Path

import anyio.to_thread

from tests.support.cli_runs import toolfold
from tests.support.hosts import open_host, part, text_of, tool_names
from tests.support.http_gateways import INITIALIZE, http_client, open_http_gateway, request
from tests.support.state_files import state_of
from tests.support.upstreams import entry, write_config
from tests.support.waiting import until

ECHO = entry(does={"echo": {"do": "echo"}})
DRENCH = entry(does={"drench": {"do": "text", "text": "wet"}})


async def test_a_bad_edit_is_kept_out_and_reported_and_a_good_one_reaches_the_host(tmp_path: Path) -> None:
    config = write_config(tmp_path, {"one": ECHO})
    async with open_host(config) as host:
        assert tool_names(await host.ask("tools/list")) == ["tool_call", "tool_describe", "tool_search"]
        await until(lambda: '"ready"' in json.dumps(state_of(tmp_path, host.process.pid)))
        config.write_text('{"mcpServers": {"one": ', encoding="utf-8")
        await until(lambda: "refused" in state_of(tmp_path, host.process.pid))
        await host.said("the configuration was changed and is not taken")
        called = await host.call("tool_call", {"id": "mcp:one:echo", "text": "still here"})
        refused = part(state_of(tmp_path, host.process.pid), "refused")
        write_config(tmp_path, {"one": ECHO, "two": DRENCH}, {"directTools": ["mcp:two:*"]})
        await host.notified("notifications/tools/list_changed")
        mended = tool_names(await host.ask("tools/list"))
        await until(lambda: "refused" not in state_of(tmp_path, host.process.pid))
        direct = await host.call("drench", {})
        write_config(tmp_path, {"one": ECHO})
        await host.notified("notifications/tools/list_changed", times=2)
        after = tool_names(await host.ask("tools/list"))
    assert text_of(called) == "still here"
    assert str(config) in str(refused["why"])
    assert mended == ["drench", "tool_call", "tool_describe", "tool_search"]
    assert text_of(direct) == "wet"
    assert after == ["tool_call", "tool_describe", "tool_search"]


ANNE, BEN = "anne's-long-token", "ben's--long--token"


def tokens(**named: str) -> dict[str, object]:
    return {"http": {"tokens": {name: sha256(token.encode()).hexdigest() for name, token in named.items()}}}


async def test_over_http_a_token_is_taken_away_by_an_edit_but_never_the_last_one(tmp_path: Path) -> None:
    config = write_config(tmp_path, {}, tokens(anne=ANNE, ben=BEN))
    async with (
        open_http_gateway(config, "--token") as gateway,
        http_client(ANNE) as anne,
        http_client(BEN) as ben,
    ):

        async def statuses() -> list[int]:
            message = request("initialize", INITIALIZE)
            return [(await client.post(gateway.url, json=message)).status_code for client in (anne, ben)]

        before = await statuses()
        write_config(tmp_path, {}, tokens(anne=ANNE))
        await gateway.said("the configuration was changed and is in force")
        revoked = await statuses()
        write_config(tmp_path, {"two": DRENCH})
        why = await gateway.said("what was in force stays.")
        kept = await statuses(), state_of(tmp_path, gateway.process.pid)["upstreams"]
        write_config(tmp_path, {"two": DRENCH}, tokens(ben=BEN))
        await until(lambda: state_of(tmp_path, gateway.process.pid)["upstreams"] != [])
        exchanged = await statuses()
        ready = await ben.post(gateway.url, json=request("initialize", INITIALIZE))
    assert (before, revoked, kept, exchanged) == ([200, 200], [200, 401], ([200, 401], []), [401, 200])
    assert why.startswith("No token is left")
    assert "- two" in ready.text, "a host that comes later is told of what is new"


async def test_status_says_that_an_edit_is_not_in_force(tmp_path: Path) -> None:
    config = write_config(tmp_path, {})
    async with open_http_gateway(config) as gateway:
        config.write_text("{", encoding="utf-8")
        await until(lambda: "refused" in state_of(tmp_path, gateway.process.pid))
        shown = (await anyio.to_thread.run_sync(toolfold, tmp_path, "status")).out
    assert gateway.url in shown
    assert "The configuration was changed and is not in force" in " ".join(shown.split())
