"""Calls through a running fleet: what is sent, what comes back, and what happens when it does not."""

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.support.fleets import fleet_of, outcome
from tests.support.hosts import text_of
from tests.support.upstreams import Script, received, spec
from upstream_clients import (
    Era,
    JsonObject,
    Patience,
    State,
    UpstreamDown,
    UpstreamError,
    UpstreamGone,
    UpstreamProtocolFault,
    UpstreamRefused,
    UpstreamTimeout,
)
from upstream_clients.bulkhead import IN_FLIGHT

ODD_RESULT: JsonObject = {
    "content": [
        {"type": "text", "text": "ü\ud800🙂", "annotations": {"priority": 0.1, "x-odd": None}},
        {"type": "hologram", "data": [1, {"deep": []}]},
        {"type": "resource_link", "uri": "a://b", "name": "n", "_meta": {"k": "v"}},
        "not even an object",
    ],
    "structuredContent": {"n": 12345678901234567890, "f": 1e300, "empty": {}, "null": None},
    "isError": False,
    "_meta": {"theirs": {"x": 1}},
    "x-unknown": [True],
}

ODD_TOOLS: list[JsonObject] = [
    {
        "name": "odd name/with any character",
        "title": 5,
        "inputSchema": {"type": "object", "x-vendor": {"k": [None]}, "properties": {"a": True}},
        "annotations": {"readOnlyHint": "yes", "other": 1},
        "icons": [{"src": "data:,"}],
        "execution": {"taskSupport": "optional"},
        "_meta": {"vendor/key": 1},
    },
    {"description": "no name"},
    {"name": 7},
    {"name": "plain", "inputSchema": {"type": "object"}},
]


async def test_a_listing_arrives_as_it_was_sent() -> None:
    async with fleet_of(spec("a", tools=ODD_TOOLS, page_size=1, instructions="Be kind.")) as (_, witness):
        await witness.until_state("a", State.READY)
    assert [one.tools for one in witness.listings] == [tuple(ODD_TOOLS)]
    assert witness.listings[0].greeting.instructions == "Be kind."


async def test_a_result_arrives_as_it_was_sent() -> None:
    async with fleet_of(spec("a", does={"odd": {"do": "result", "result": ODD_RESULT}})) as (fleet, _):
        assert await fleet.call("a", "odd", {}, {}) == ODD_RESULT


async def test_arguments_arrive_as_they_were_given() -> None:
    arguments: JsonObject = {"ä": ["\ud800", None, 1e300, {"$ref": "#"}], "_meta": {"not": "ours"}, "": 0}
    async with fleet_of(spec("a", does={"raw": {"do": "raw"}})) as (fleet, _):
        params = json.loads(text_of(await fleet.call("a", "raw", arguments, {"traceparent": "00-1"})))
    assert params.pop("_meta") == {"traceparent": "00-1", "progressToken": 3}
    assert params == {"name": "raw", "arguments": arguments}


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_call_is_one_message_and_nothing_else_is_sent(era: Era, tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = replace(spec("a", tools=30, page_size=10, log=str(log), era=era), protocol=era)
    async with fleet_of(one) as (fleet, witness):
        await witness.until_state("a", State.READY)
        before = len(received(log))
        for number in range(3):
            await fleet.call("a", "create_record_0", {"text": str(number)}, {})
        messages = received(log)
    methods = [message["method"] for message in messages]
    greeting = {
        "legacy": ["initialize", "notifications/initialized"],
        "modern": ["server/discover", "subscriptions/listen"],
    }[era]
    assert methods[:before] == greeting + ["tools/list"] * 3
    assert methods[before:] == ["tools/call"] * 3


async def test_every_request_to_a_modern_server_has_the_envelope(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = replace(spec("a", tools=1, log=str(log), era="modern"), protocol="auto")
    async with fleet_of(one) as (fleet, witness):
        await fleet.call("a", "create_record_0", {}, {"trace": "t"})
        assert witness.statuses[-1].protocol_version == "2026-07-28"
    requests = [message for message in received(log) if "id" in message]
    assert len(requests) == 4
    for request in requests:
        params = request["params"]
        assert isinstance(params, dict)
        assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert params["_meta"]["io.modelcontextprotocol/clientInfo"] == {"name": "test", "version": "1"}


async def test_many_calls_at_once_each_get_their_own_answer() -> None:
    does: dict[str, Script] = {"hold": {"do": "hold"}, "release": {"do": "release"}}
    answers: dict[str, str] = {}
    async with fleet_of(spec("a", does=does), spec("b", does=does)) as (fleet, witness):
        await witness.until(lambda: len(witness.listings) == 2)

        async def call(owner: str, text: str) -> None:
            answers[text] = text_of(await fleet.call(owner, "hold", {"text": text}, {}))

        at_once = 2 * (IN_FLIGHT - 1)  # so that the call that releases them goes through
        for first in range(0, 15 * at_once, at_once):
            async with anyio.create_task_group() as tasks:
                for number in range(first, first + at_once):
                    tasks.start_soon(call, "ab"[number % 2], str(number))
                await anyio.wait_all_tasks_blocked()
                for owner in "ab":
                    await fleet.call(owner, "release", {}, {})
    assert answers == {str(number): str(number) for number in range(15 * at_once)}


async def test_answers_under_wrong_ids_reach_nobody() -> None:
    async with fleet_of(spec("a", does={"twice": {"do": "duplicate"}})) as (fleet, _):
        assert text_of(await fleet.call("a", "twice", {}, {})) == "right"
        assert text_of(await fleet.call("a", "twice", {}, {})) == "right"


async def test_progress_is_handed_on() -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    slow: list[dict[str, object]] = [{"do": "progress", "steps": 2}, {"do": "text", "text": "done"}]
    async with fleet_of(spec("a", does={"slow": slow})) as (fleet, _):
        result = await fleet.call("a", "slow", {}, {}, lambda *step: seen.append(step))
    assert (text_of(result), seen) == ("done", [(1, 2, "step 1"), (2, 2, "step 2")])


async def test_an_error_result_is_a_result_and_a_refusal_is_an_error() -> None:
    does: dict[str, Script] = {
        "fails": {"do": "error", "text": "no such file"},
        "refuses": {"do": "refuse", "code": -32602, "message": "bad arguments", "data": {"x": 1}},
    }
    async with fleet_of(spec("a", does=does)) as (fleet, _):
        assert await fleet.call("a", "fails", {}, {}) == {
            "content": [{"type": "text", "text": "no such file"}],
            "isError": True,
        }
        refused = await outcome(fleet, "a", "refuses")
    assert isinstance(refused, UpstreamRefused)
    assert (refused.rpc_code, refused.message, refused.data) == (-32602, "bad arguments", {"x": 1})


async def test_a_call_without_an_answer_times_out_and_is_cancelled_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    impatient = replace(
        spec("a", does={"never": {"do": "never"}, "echo": {"do": "echo"}}, log=str(log)), patience=Patience(idle=0.05)
    )
    async with fleet_of(impatient) as (fleet, _):
        late = await outcome(fleet, "a", "never")
        assert text_of(await fleet.call("a", "echo", {"text": "alive"}, {})) == "alive"
    assert (type(late), str(late)) == (UpstreamTimeout, "tools/call gave no answer and no progress for 0.05 s")
    cancelled = [message["params"] for message in received(log) if message["method"] == "notifications/cancelled"]
    assert cancelled == [{"requestId": 3, "reason": "no longer awaited"}]


REFUSED = ("sampling/createMessage", "elicitation/create", "roots/list", "tools/list")


async def test_what_the_server_asks_is_refused_and_its_call_still_answered(tmp_path: Path) -> None:
    log = tmp_path / "log"
    asks: list[dict[str, object]] = [
        *[dict[str, object]({"do": "request", "id": f"ours {method}", "method": method}) for method in REFUSED],
        {"do": "request", "id": 3, "method": "ping"},
        {"do": "notify", "method": "notifications/message", "params": {"level": "info", "data": "x"}, "times": 50},
        {"do": "text", "text": "done"},
    ]
    async with fleet_of(spec("a", does={"asks": asks, "echo": {"do": "echo"}}, log=str(log))) as (fleet, _):
        assert text_of(await fleet.call("a", "asks", {}, {})) == "done"
        await fleet.call("a", "echo", {}, {})
    answers = [message for message in received(log) if "method" not in message]
    assert answers == [
        *(
            {
                "jsonrpc": "2.0",
                "id": f"ours {method}",
                "error": {"code": -32601, "message": f"toolfold does not serve '{method}'"},
            }
            for method in REFUSED
        ),
        {"jsonrpc": "2.0", "id": 3, "result": {}},
    ]


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        ({"do": "crash"}, UpstreamGone),
        ({"do": "close_output"}, UpstreamGone),
        ({"do": "utf8"}, UpstreamProtocolFault),
        ({"do": "nan"}, UpstreamProtocolFault),
        ({"do": "deep"}, UpstreamProtocolFault),
        ({"do": "giant"}, UpstreamProtocolFault),
        ({"do": "endless"}, UpstreamProtocolFault),
    ],
)
async def test_a_fault_fails_the_call_at_once_and_the_upstream_comes_back(
    step: dict[str, object], failure: type[UpstreamError], tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    one = spec("a", does={"bad": step, "echo": {"do": "echo"}}, starts=str(starts))
    async with fleet_of(one, spec("other", tools=1)) as (fleet, witness):
        failed = await outcome(fleet, "a", "bad")
        assert isinstance(failed, UpstreamError)
        assert (type(failed), failed.ran) == (failure, True)
        assert text_of(await fleet.call("other", "create_record_0", {"text": "well"}, {})) == "well"
        await witness.until(lambda: witness.states("a").count(State.READY) == 2)
        assert text_of(await fleet.call("a", "echo", {"text": "again"}, {})) == "again"
    assert len(starts.read_text().split()) == 2
    assert witness.states("a") == [
        *[State.WAITING, State.STARTING, State.READY, State.DOWN],
        *[State.WAITING, State.STARTING, State.READY, State.STOPPED],
    ]
    assert witness.states("other") == [State.WAITING, State.STARTING, State.READY, State.STOPPED]


async def test_all_calls_under_way_fail_with_the_connection_and_none_is_sent_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    does: dict[str, Script] = {"never": {"do": "never"}, "crash": {"do": "crash"}}
    failures: list[object] = []
    async with fleet_of(spec("a", does=does, log=str(log))) as (fleet, witness):
        await witness.until_state("a", State.READY)

        async def call(name: str) -> None:
            failures.append(await outcome(fleet, "a", name))

        async with anyio.create_task_group() as tasks:
            for name in ["never"] * (IN_FLIGHT - 1) + ["crash"]:
                tasks.start_soon(call, name)
        await witness.until(lambda: witness.states("a").count(State.READY) == 2)
    assert [(type(each), str(each)) for each in failures] == [(UpstreamGone, "it ended with exit code 3")] * IN_FLIGHT
    assert len([1 for message in received(log) if message["method"] == "tools/call"]) == IN_FLIGHT


async def test_half_a_line_is_waited_for_no_longer_than_an_answer() -> None:
    one = replace(spec("a", does={"half": {"do": "half"}}), patience=Patience(idle=0.05))
    async with fleet_of(one) as (fleet, _):
        assert isinstance(await outcome(fleet, "a", "half"), UpstreamTimeout)


async def test_junk_on_standard_output_is_skipped_and_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    secret = "canary-sk-123"
    caplog.set_level("DEBUG")
    one = spec("a", tools=1, junk_before=[f"Starting {secret}", "", f"[{secret}]"], junk_after=[f"token={secret}"] * 50)
    async with fleet_of(one) as (fleet, witness):
        assert text_of(await fleet.call("a", "create_record_0", {"text": "well"}, {})) == "well"
    assert witness.states("a") == [State.WAITING, State.STARTING, State.READY, State.STOPPED]
    assert secret not in caplog.text
    assert secret not in repr(witness.statuses)


async def test_a_call_of_an_unknown_owner_is_down() -> None:
    async with fleet_of() as (fleet, _):
        failed = await outcome(fleet, "nobody", "x")
    assert (type(failed), str(failed)) == (UpstreamDown, "it is not running")
