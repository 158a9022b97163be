from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from tests.support.virtual_time import in_virtual_time
from tests.support.wire import Answer, Wire, error, in_turn, result, silence
from upstream_clients import JsonObject, Patience, UpstreamError, UpstreamGone, UpstreamTimeout
from upstream_clients.chain import Chaining
from upstream_clients.era import Era, Greeter, Greeting
from upstream_clients.session import Session, Wanted

LEGACY: dict[str, Answer] = {"initialize": result({"protocolVersion": "2025-11-25"})}
MODERN: dict[str, Answer] = {"server/discover": result({"supportedVersions": ["2026-07-28"]})}
CHANGED: JsonObject = {"method": "notifications/tools/list_changed"}


def tools(*names: str) -> Answer:
    return result({"tools": [{"name": name} for name in names]})


class Conversation:
    """A session over a wire, and what it has handed on."""

    def __init__(self, answers: dict[str, Answer], era: Era = "legacy") -> None:
        self.wire = Wire(answers)
        self.listings: list[list[object]] = []
        self.session = Session("talk", Greeter({}), self._keep)
        self.wire.receive = self.session.receive
        self._wanted = Wanted(era, None, 60, Chaining("us"))

    async def serve(self) -> None:
        await self.session.serve(self.wire.write, self._wanted)

    def _keep(self, _greeting: Greeting, tools: tuple[JsonObject, ...]) -> None:
        self.listings.append([tool["name"] for tool in tools])


@asynccontextmanager
async def talking(answers: dict[str, Answer], era: Era = "legacy") -> AsyncIterator[Conversation]:
    """A conversation that is served for as long as the context lasts."""
    talk = Conversation(answers, era)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(talk.serve)
        yield talk
        tasks.cancel_scope.cancel()


def test_nothing_is_sent_that_nobody_asked_for() -> None:
    async def body() -> None:
        async with talking({**LEGACY, "tools/list": tools("a")}) as talk:
            await anyio.sleep(3600)
            assert talk.wire.methods() == ["initialize", "notifications/initialized", "tools/list"]
            assert talk.listings == [["a"]]

    in_virtual_time(body())


def test_a_change_lists_again() -> None:
    async def body() -> None:
        async with talking({**LEGACY, "tools/list": in_turn(tools("a"), tools("b"))}) as talk:
            await anyio.sleep(10)
            talk.session.receive(CHANGED)
            await anyio.sleep(10)
            assert talk.listings == [["a"], ["b"]]

    in_virtual_time(body())


def test_a_storm_of_changes_lists_once_a_second_and_once_more_after_it() -> None:
    async def body() -> None:
        async with talking({**LEGACY, "tools/list": tools("a")}) as talk:
            await anyio.sleep(10)
            for _ in range(200):
                for _ in range(100):
                    talk.session.receive(CHANGED)
                await anyio.sleep(0.0175)  # 3.5 s in all
            await anyio.sleep(100)
            assert talk.wire.methods().count("tools/list") == 1 + 4 + 1

    in_virtual_time(body())


def test_a_change_while_listing_lists_once_more() -> None:
    async def body() -> None:
        talk = Conversation(LEGACY)
        wire = talk.wire

        def changes_while_it_lists(_request: JsonObject) -> JsonObject:
            wire.answers["tools/list"] = tools("b")
            wire.receive(CHANGED)
            return {"result": {"tools": [{"name": "a"}]}}

        wire.answers["tools/list"] = changes_while_it_lists
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk.serve)
            await anyio.sleep(10)
            assert talk.listings == [["a"], ["b"]]
            tasks.cancel_scope.cancel()

    in_virtual_time(body())


def test_a_changed_list_that_fails_leaves_the_session_alive() -> None:
    async def body() -> None:
        async with talking({**LEGACY, "tools/list": in_turn(tools("a"), error(-32603), tools("b"))}) as talk:
            for _ in range(2):
                await anyio.sleep(10)
                talk.session.receive(CHANGED)
            await anyio.sleep(10)
            assert talk.listings == [["a"], ["b"]]

    in_virtual_time(body())


def test_a_modern_server_is_listened_to_before_it_is_listed() -> None:
    async def body() -> None:
        async with talking({**MODERN, "tools/list": tools("a"), "subscriptions/listen": silence}, "modern") as talk:
            await anyio.sleep(3600)
            assert talk.wire.methods() == ["server/discover", "subscriptions/listen", "tools/list"]
            params = talk.wire.sent[1]["params"]
            assert isinstance(params, dict)
            assert params["notifications"] == {"toolsListChanged": True}
            talk.session.receive(CHANGED)
            await anyio.sleep(10)
            assert talk.listings == [["a"], ["a"]]

    in_virtual_time(body())


def test_a_stream_of_changes_that_ends_is_opened_again_and_the_tools_are_listed_again() -> None:
    async def body() -> None:
        ends_at_once = in_turn(result({}), silence)
        async with talking(
            {**MODERN, "tools/list": tools("a"), "subscriptions/listen": ends_at_once}, "modern"
        ) as talk:
            await anyio.sleep(3600)
            assert talk.wire.methods() == [
                "server/discover",
                *["subscriptions/listen", "tools/list"],
                *["subscriptions/listen", "tools/list"],
            ]

    in_virtual_time(body())


def test_a_modern_server_that_tells_of_no_changes_is_not_asked_again() -> None:
    async def body() -> None:
        answers = {**MODERN, "tools/list": tools("a"), "subscriptions/listen": error(-32601)}
        async with talking(answers, "modern") as talk:
            await anyio.sleep(3600)
            assert talk.wire.methods() == ["server/discover", "subscriptions/listen", "tools/list"]

    in_virtual_time(body())


def test_a_server_that_has_too_many_listeners_is_asked_once_a_minute() -> None:
    async def body() -> None:
        answers = {**MODERN, "tools/list": tools("a"), "subscriptions/listen": error(-32603)}
        async with talking(answers, "modern") as talk:
            await anyio.sleep(3630)
            assert talk.wire.methods().count("subscriptions/listen") == 61

    in_virtual_time(body())


@pytest.mark.parametrize("answers", [{}, LEGACY])
def test_a_server_that_is_not_ready_in_time_is_given_up(answers: dict[str, Answer]) -> None:
    async def body() -> None:
        talk = Conversation(answers)
        with pytest.raises(UpstreamTimeout) as late:
            await talk.serve()
        assert (anyio.current_time(), late.value.message) == (60, "it was not ready within 60 s")
        assert talk.listings == []

    in_virtual_time(body())


@pytest.mark.parametrize("answers", [{}, LEGACY, {**LEGACY, "tools/list": tools("a")}])
def test_the_end_of_the_connection_ends_the_session_at_any_time(answers: dict[str, Answer]) -> None:
    async def body() -> None:
        talk = Conversation(answers)
        async with anyio.create_task_group() as tasks:

            async def lose() -> None:
                await anyio.sleep(30)
                talk.session.end(UpstreamGone("it ended with exit code 1"))

            tasks.start_soon(lose)
            with pytest.raises(UpstreamGone) as gone:
                await talk.serve()
            assert gone.value.message == "it ended with exit code 1"
        assert anyio.current_time() == 30

    in_virtual_time(body())


def test_a_session_that_is_left_fails_the_calls_of_others() -> None:
    async def body() -> None:
        talk = Conversation({**LEGACY, "tools/list": tools("a")})
        failures: list[UpstreamError] = []

        async def call() -> None:
            try:
                await talk.session.request("tools/call", {}, Patience(idle=600))
            except UpstreamError as failure:
                failures.append(failure)

        async with anyio.create_task_group() as callers, anyio.create_task_group() as tasks:
            tasks.start_soon(talk.serve)
            await anyio.sleep(1)
            callers.start_soon(call)
            await anyio.sleep(1)
            tasks.cancel_scope.cancel()
        assert [(type(each), each.message, each.ran) for each in failures] == [
            (UpstreamGone, "its connection was closed", True)
        ]

    in_virtual_time(body())


async def test_a_session_that_is_not_served_yet_takes_no_requests() -> None:
    session = Session("talk", Greeter({}), lambda _greeting, _tools: None)
    with pytest.raises(UpstreamGone):
        await session.request("tools/call", {}, Patience(idle=1))
