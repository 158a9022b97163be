"""What comes of a call: whatever the upstream answers, as it is; and what is said when it does not."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from tests.support.gateways import Opened, error_of, gateway
from tests.support.hosts import text_of
from tests.support.upstreams import entry, received
from upstream_clients import JsonObject, State

ODD_RESULTS: dict[str, JsonObject] = {
    "failed": {"content": [{"type": "text", "text": "no water"}], "isError": True},
    "images": {
        "content": [{"type": "image", "data": "QUE=", "mimeType": "image/png", "annotations": {"priority": 0.5}}]
    },
    "unheard_of": {"content": [{"type": "hologram", "of": [1, None, {"x": "é\u2028"}]}], "more": {"a": [True]}},
    "extra_fields": {"content": [], "structuredContent": {"n": 12345678901234567890, "f": 1e-7, "z": None}, "x": "y"},
    "own_meta": {"content": [], "_meta": {"vendor/x": {"y": [1]}, "progress": 1}},
    "surrogates": {"content": [{"type": "text", "text": "half \ud83d of a pair"}]},
    "a_list": {"content": [{"type": "text", "text": "[]"}], "structuredContent": [1, {"two": 2}]},
    "deep": {"content": [], "structuredContent": json.loads("[" * 180 + "]" * 180)},
    "not_a_list": {"content": "just text"},
    "odd_blocks": {"content": ["text", 5, None, {"type": "text"}]},
    "complete": {"content": [], "resultType": "complete", "ttlMs": 5},
}


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    does = {name: {"do": "result", "result": result} for name, result in ODD_RESULTS.items()}
    garden = entry(
        does={
            **does,
            "no_content": {"do": "result", "result": {"structuredContent": {"a": 1}}},
            "odd_meta": {"do": "result", "result": {"content": [], "_meta": 5}},
            "refuses": {"do": "refuse", "code": -32001, "message": "not\u200b\ntoday", "data": {"x": 1}},
            "no_result": {"do": "write", "line": '{"jsonrpc":"2.0","id":{id}}'},
            "slow": [{"do": "progress", "steps": 3}, {"do": "text", "text": "done"}],
        }
    )
    async with gateway(tmp_path_factory.mktemp("outcomes"), {"garden": garden}) as opened:
        yield opened


@pytest.mark.parametrize("name", ODD_RESULTS)
async def test_whatever_the_upstream_answers_comes_through_as_it_is(opened: Opened, name: str) -> None:
    expected = ODD_RESULTS[name]
    own_meta = expected.get("_meta", {})
    assert isinstance(own_meta, dict)
    result = await opened.call(f"mcp:garden:{name}")
    assert result == {**expected, "_meta": {**own_meta, "toolfold/tool": f"mcp:garden:{name}"}}
    assert json.dumps({**result, "_meta": 0}) == json.dumps({**expected, "_meta": 0})


async def test_a_result_without_content_gets_an_empty_list_for_hosts_that_need_one(opened: Opened) -> None:
    result = await opened.call("mcp:garden:no_content")
    assert result == {"content": [], "structuredContent": {"a": 1}, "_meta": {"toolfold/tool": "mcp:garden:no_content"}}


async def test_a_meta_that_is_no_object_gives_way_to_ours(opened: Opened) -> None:
    assert await opened.call("mcp:garden:odd_meta") == {
        "content": [],
        "_meta": {"toolfold/tool": "mcp:garden:odd_meta"},
    }


async def test_an_upstreams_own_refusal_is_passed_on_in_words(opened: Opened) -> None:
    assert error_of(await opened.call("mcp:garden:refuses")) == {
        "code": "upstream_refused",
        "message": 'garden refused the call: not today (JSON-RPC error -32001; data: {"x": 1}).',
        "hint": "",
    }


async def test_an_answer_that_is_neither_result_nor_error_may_have_run(opened: Opened) -> None:
    error = error_of(await opened.call("mcp:garden:no_result"))
    assert error["code"] == "upstream_protocol"
    assert str(error["message"]).endswith("It may have run: look before you call it again.")


async def test_progress_comes_through_with_its_message(opened: Opened) -> None:
    steps: list[tuple[float, float | None, str | None]] = []
    result = await opened.ask("tool_call", {"id": "slow"}, on_progress=lambda *step: steps.append(step))
    assert text_of(result) == "done"
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_a_call_that_the_host_gives_up_is_cancelled_upstream_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    waiting = entry(
        log=str(log), does={"wait": [{"do": "progress", "steps": 1}, {"do": "never"}], "echo": {"do": "echo"}}
    )
    async with gateway(tmp_path, {"one": waiting}) as opened:
        begun = anyio.Event()
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                await opened.ask("tool_call", {"id": "wait"}, on_progress=lambda *_step: begun.set())

            tasks.start_soon(wait)
            await begun.wait()
            tasks.cancel_scope.cancel()
        await opened.call("echo", {"text": "so that the cancellation has been read"})
    messages = received(log)[3:]
    assert [message["method"] for message in messages] == ["tools/call", "notifications/cancelled", "tools/call"]
    assert messages[1]["params"] == {"requestId": messages[0]["id"], "reason": "no longer awaited"}


@pytest.mark.parametrize(
    ("limits", "own", "said"),
    [
        ({"callIdleMs": 150}, {}, "tools/call gave no answer and no progress for 0.15 s"),
        ({"callIdleMs": 5000, "callTotalMs": 150}, {}, "tools/call did not finish within 0.15 s"),
        ({}, {"timeout": 1000}, "tools/call gave no answer and no progress for 1 s"),
    ],
)
async def test_a_call_that_takes_too_long_is_cancelled_upstream(
    tmp_path: Path, limits: JsonObject, own: JsonObject, said: str
) -> None:
    log = tmp_path / "log"
    waiting = entry(log=str(log), does={"wait": {"do": "never"}, "echo": {"do": "echo"}})
    async with gateway(tmp_path, {"one": {**waiting, **own}}, {"limits": limits}) as opened:
        error = error_of(await opened.call("wait"))
        await opened.call("echo", {"text": "x"})
    assert error["code"] == "upstream_timeout"
    assert error["message"] == f"one: {said}. It may have run: look before you call it again."
    assert [message["method"] for message in received(log)[3:]] == [
        "tools/call",
        "notifications/cancelled",
        "tools/call",
    ]


async def test_progress_keeps_a_long_call_alive(tmp_path: Path) -> None:
    busy = entry(does={"work": [{"do": "progress", "steps": 8, "every": 0.1}, {"do": "text", "text": "done"}]})
    async with gateway(tmp_path, {"one": busy}, {"limits": {"callIdleMs": 500}}) as opened:
        assert text_of(await opened.call("work")) == "done"


async def test_a_call_of_an_upstream_that_is_down_says_since_when_why_and_what_to_do(tmp_path: Path) -> None:
    flag = tmp_path / "broken"
    dying = {
        **entry(exit_while=str(flag), does={"die": {"do": "crash", "code": 9}}),
        "env": {"KEY": "tok-5ecret-value"},
    }
    async with gateway(tmp_path, {"one": dying}) as opened:
        flag.touch()
        gone = error_of(await opened.call("die"))
        await opened.news.until(
            lambda: (
                "exit code 7" in opened.running.statuses()["one"].error
                and opened.running.statuses()["one"].state is State.DOWN
            )
        )
        down = error_of(await opened.call("die"))
    assert gone["code"] == "upstream_gone"
    assert gone["message"] == "one: it ended with exit code 9. It may have run: look before you call it again."
    assert down["code"] == "upstream_down"
    assert str(down["message"]).startswith("one: it has been down for ")
    assert "it ended with exit code 7; it is tried again in" in str(down["message"])
    assert str(down["message"]).endswith("It did not run.")
    assert down["hint"] == "Run `toolfold check` to see what it needs."


async def test_secrets_of_the_configuration_are_not_in_an_answer_about_a_failure(tmp_path: Path) -> None:
    leaky = {**entry(does={"tell": {"do": "refuse", "message": "bad key tok-5ecret-value"}})}
    async with gateway(tmp_path, {"one": {**leaky, "env": {"API_KEY": "tok-5ecret-value"}}}) as opened:
        error = error_of(await opened.call("tell"))
    assert error["message"] == "one refused the call: bad key [redacted] (JSON-RPC error -32000)."


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("tok  with   runs of spaces", "tok  with   runs of spaces"),
        ("first-line-of-it\nsecond-line-of-it", "first-line-of-it\nsecond-line-of-it"),
        ("first-line-of-it\nsecond-line-of-it", "just the second-line-of-it"),
        ("tok-5ecret-value", "x" * 490 + "tok-5ecret-value"),
    ],
)
async def test_no_secret_gets_out_folded_or_cut(tmp_path: Path, secret: str, said: str) -> None:
    leaky = {
        **entry(does={"tell": {"do": "refuse", "message": said, "data": {"said": said}}}),
        "env": {"API_KEY": secret},
    }
    async with gateway(tmp_path, {"one": leaky}) as opened:
        told = str(error_of(await opened.call("tell")))
    assert "[redacted]" in told
    assert not any(part in told for part in ("tok", "first-line", "second-line"))


async def test_the_data_of_an_upstreams_refusal_is_passed_on(tmp_path: Path) -> None:
    asking = {
        "do": "refuse",
        "code": -32042,
        "message": "log in",
        "data": {"elicitations": [{"url": "https://x.test/a"}]},
    }
    async with gateway(tmp_path, {"one": entry(does={"ask": asking})}) as opened:
        error = error_of(await opened.call("ask"))
    assert error["message"] == (
        'one refused the call: log in (JSON-RPC error -32042; data: {"elicitations": [{"url": "https://x.test/a"}]}).'
    )


async def test_a_long_text_is_cut_and_read_on_to_its_end_through_tool_call(tmp_path: Path) -> None:
    text = "".join(f"{number} é\n" for number in range(1_000))
    long = entry(does={"long": {"do": "text", "text": text}})
    async with gateway(tmp_path, {"one": long}, {"limits": {"resultBytes": 2048}}) as opened:
        result = await opened.call("long")
        whole, _, marker = text_of(result).rpartition("\n[toolfold: cut at byte ")
        following = json.loads(marker[marker.index("{") : -1])
        while following is not None:
            more = await opened.ask("tool_call", following)
            part, cut, marker = text_of(more).rpartition("\n[toolfold: cut at byte ")
            whole += part if cut else marker
            following = json.loads(marker[marker.index("{") : -1]) if cut else None
    assert whole == text
    assert result["_meta"] == {"toolfold/tool": "mcp:one:long"}
