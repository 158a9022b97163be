import math

import anyio
import pytest
from anyio.abc import TaskGroup

from tests.support.virtual_time import in_virtual_time
from tests.support.wire import Wire, result
from upstream_clients import (
    JsonObject,
    Patience,
    UpstreamError,
    UpstreamGone,
    UpstreamProtocolFault,
    UpstreamRefused,
    UpstreamTimeout,
)
from upstream_clients.peer import Peer

LONG = Patience(idle=30)


def connected(wire: Wire) -> Peer:
    def no_notification(_method: str, _params: JsonObject) -> None:
        raise NotImplementedError

    peer = Peer(wire.write, no_notification)
    wire.receive = peer.receive
    return peer


async def started(tasks: TaskGroup, peer: Peer, method: str = "tools/call") -> list[object]:
    """A request that is under way; what becomes of it is put into the list."""
    outcome: list[object] = []

    async def ask() -> None:
        try:
            outcome.append(await peer.request(method, {}, LONG))
        except UpstreamError as failure:
            outcome.append(failure)

    tasks.start_soon(ask)
    await anyio.wait_all_tasks_blocked()
    return outcome


async def test_a_request_is_one_line_with_a_token_for_its_progress() -> None:
    wire = Wire({"tools/call": result({"content": []})})
    peer = connected(wire)

    answer = await peer.request("tools/call", {"name": "x", "_meta": {"trace": "t", "progressToken": "theirs"}}, LONG)

    assert answer == {"content": []}
    assert wire.sent == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "x", "_meta": {"trace": "t", "progressToken": 1}},
        }
    ]


async def test_answers_in_any_order_find_their_requests() -> None:
    peer = connected(Wire())
    async with anyio.create_task_group() as tasks:
        outcomes = [await started(tasks, peer) for _ in range(5)]
        for request_id in (4, 1, 5, 3, 2):
            peer.receive({"jsonrpc": "2.0", "id": request_id, "result": {"n": request_id}})
    assert outcomes == [[{"n": 1}], [{"n": 2}], [{"n": 3}], [{"n": 4}], [{"n": 5}]]


@pytest.mark.parametrize("wrong_id", ["1", 1.0, True, None, 2, -1, [1], {"id": 1}])
async def test_an_answer_under_another_id_is_dropped_and_counted(wrong_id: object) -> None:
    peer = connected(Wire())
    async with anyio.create_task_group() as tasks:
        outcome = await started(tasks, peer)
        peer.receive({"jsonrpc": "2.0", "id": wrong_id, "result": {"for": "nobody"}})
        assert (peer.dropped, outcome) == (1, [])
        peer.receive({"jsonrpc": "2.0", "id": 1, "result": {"for": "it"}})
    assert (peer.dropped, outcome) == (1, [{"for": "it"}])


async def test_the_first_of_two_answers_counts() -> None:
    peer = connected(Wire())
    async with anyio.create_task_group() as tasks:
        outcome = await started(tasks, peer)
        peer.receive({"jsonrpc": "2.0", "id": 1, "result": {"n": 1}})
        peer.receive({"jsonrpc": "2.0", "id": 1, "result": {"n": 2}})
    peer.receive({"jsonrpc": "2.0", "id": 1, "result": {"n": 3}})
    assert (peer.dropped, outcome) == (2, [{"n": 1}])


async def test_a_json_rpc_error_comes_through_as_it_came() -> None:
    wire = Wire({"tools/call": lambda _: {"error": {"code": -32602, "message": "bad", "data": {"at": [1]}}}})
    with pytest.raises(UpstreamRefused) as refused:
        await connected(wire).request("tools/call", {}, LONG)
    assert (refused.value.rpc_code, refused.value.message, refused.value.data) == (-32602, "bad", {"at": [1]})


@pytest.mark.parametrize("nothing", [{}, {"result": None}, {"result": []}, {"error": "bad"}])
async def test_an_answer_that_says_nothing_is_the_servers_fault(nothing: JsonObject) -> None:
    wire = Wire({"tools/call": lambda _: nothing})
    with pytest.raises(UpstreamProtocolFault) as fault:
        await connected(wire).request("tools/call", {}, LONG)
    assert fault.value.ran


async def test_an_error_object_full_of_junk_still_is_a_refusal() -> None:
    wire = Wire({"tools/call": lambda _: {"error": {"code": "no", "message": 5}}})
    with pytest.raises(UpstreamRefused) as refused:
        await connected(wire).request("tools/call", {}, LONG)
    assert (refused.value.rpc_code, refused.value.message, refused.value.data) == (0, "no message", None)


async def test_a_cancelled_request_sends_one_cancellation_and_its_late_answer_is_dropped() -> None:
    wire = Wire()
    peer = connected(wire)
    async with anyio.create_task_group() as tasks:
        await started(tasks, peer)
        tasks.cancel_scope.cancel()
    peer.receive({"jsonrpc": "2.0", "id": 1, "result": {}})
    assert wire.methods() == ["tools/call", "notifications/cancelled"]
    params = wire.sent[1]["params"]
    assert isinstance(params, dict)
    assert params["requestId"] == 1
    assert peer.dropped == 1


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
async def test_a_greeting_is_never_cancelled_on_the_wire(method: str) -> None:
    wire = Wire()
    with pytest.raises(UpstreamTimeout):
        await connected(wire).request(method, {}, Patience(idle=0))
    assert wire.methods() == [method]


def test_silence_ends_a_request_after_its_idle_time() -> None:
    async def body() -> None:
        wire = Wire()
        with pytest.raises(UpstreamTimeout) as late:
            await connected(wire).request("tools/call", {}, Patience(idle=120, total=600))
        assert late.value.message == "tools/call gave no answer and no progress for 120 s"
        assert late.value.ran
        assert anyio.current_time() == 120
        assert wire.methods() == ["tools/call", "notifications/cancelled"]

    in_virtual_time(body())


def test_progress_extends_the_wait_up_to_the_total_time() -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def body() -> None:
        peer = connected(Wire())

        async def show_progress() -> None:
            for step in range(1000):
                await anyio.sleep(100)
                peer.receive(
                    {
                        "method": "notifications/progress",
                        "params": {"progressToken": 1, "progress": step, "total": 9, "message": "on"},
                    }
                )

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(show_progress)
            with pytest.raises(UpstreamTimeout) as late:
                await peer.request("tools/call", {}, Patience(idle=120, total=600), lambda *step: steps.append(step))
            tasks.cancel_scope.cancel()
        assert late.value.message == "tools/call did not finish within 600 s"
        assert anyio.current_time() == 600

    in_virtual_time(body())
    assert steps[:5] == [(0, 9, "on"), (1, 9, "on"), (2, 9, "on"), (3, 9, "on"), (4, 9, "on")]


def test_only_progress_of_an_open_request_counts() -> None:
    async def body() -> None:
        peer = connected(Wire())

        async def show_progress() -> None:
            await anyio.sleep(100)
            for params in (
                {"progressToken": "1", "progress": 1},
                {"progressToken": 2, "progress": 1},
                {"progressToken": 1, "progress": "much"},
                {"progressToken": 1},
                {},
            ):
                peer.receive({"method": "notifications/progress", "params": params})

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(show_progress)
            with pytest.raises(UpstreamTimeout):
                await peer.request("tools/call", {}, Patience(idle=120))
        assert anyio.current_time() == 120
        assert peer.dropped == 5

    in_virtual_time(body())


async def test_progress_after_the_answer_reaches_nobody() -> None:
    peer = connected(Wire())

    def unwanted(_progress: float, _total: float | None, _message: str | None) -> None:
        raise NotImplementedError

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(peer.request, "tools/call", {}, LONG, unwanted)
        await anyio.wait_all_tasks_blocked()
        peer.receive({"id": 1, "result": {}})
        peer.receive({"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}})
    assert peer.dropped == 1


async def test_requests_of_the_server_are_refused_and_pings_answered() -> None:
    wire = Wire()
    peer = connected(wire)
    peer.receive({"jsonrpc": "2.0", "id": "a", "method": "sampling/createMessage", "params": {"messages": []}})
    peer.receive({"jsonrpc": "2.0", "id": 7, "method": "ping"})
    assert wire.sent == [
        {
            "jsonrpc": "2.0",
            "id": "a",
            "error": {"code": -32601, "message": "toolfold does not serve 'sampling/createMessage'"},
        },
        {"jsonrpc": "2.0", "id": 7, "result": {}},
    ]


async def test_a_request_of_the_server_under_one_of_our_ids_answers_nothing_of_ours() -> None:
    peer = connected(Wire())
    async with anyio.create_task_group() as tasks:
        outcome = await started(tasks, peer)
        peer.receive({"jsonrpc": "2.0", "id": 1, "method": "roots/list", "result": {"not": "an answer"}})
        assert outcome == []
        peer.receive({"jsonrpc": "2.0", "id": 1, "result": {}})
    assert outcome == [{}]


async def test_notifications_are_handed_on() -> None:
    seen: list[tuple[str, JsonObject]] = []
    peer = Peer(Wire().write, lambda method, params: seen.append((method, params)))
    peer.receive({"method": "notifications/message", "params": {"level": "info"}})
    peer.receive({"method": "notifications/tools/list_changed"})
    peer.receive({"method": "notifications/odd", "params": [1]})
    assert seen == [
        ("notifications/message", {"level": "info"}),
        ("notifications/tools/list_changed", {}),
        ("notifications/odd", {}),
    ]


async def test_the_end_of_the_connection_fails_what_is_open_and_what_comes_later() -> None:
    wire = Wire()
    peer = connected(wire)
    async with anyio.create_task_group() as tasks:
        first, second = await started(tasks, peer), await started(tasks, peer)
        peer.end(UpstreamProtocolFault("it sent junk", hint="mend it"))
        peer.end(UpstreamGone("it ended with exit code 1"))
    later = await started_alone(peer)

    failures = [first[0], second[0], later]
    assert [(type(each), str(each)) for each in failures] == [(UpstreamProtocolFault, "it sent junk")] * 3
    assert [each.ran for each in failures if isinstance(each, UpstreamError)] == [True, True, False]
    assert [each.hint for each in failures if isinstance(each, UpstreamError)] == ["mend it"] * 3
    assert len({id(each) for each in failures}) == 3
    assert wire.methods() == ["tools/call", "tools/call"]


async def test_an_answer_that_came_just_before_the_end_still_counts() -> None:
    peer = connected(Wire())
    async with anyio.create_task_group() as tasks:
        outcome = await started(tasks, peer)
        peer.receive({"id": 1, "result": {"n": 1}})
        peer.end(UpstreamGone("it ended with exit code 1"))
    assert outcome == [{"n": 1}]


async def started_alone(peer: Peer) -> UpstreamError:
    with pytest.raises(UpstreamError) as failure:
        await peer.request("tools/call", {}, LONG)
    return failure.value


class ClosedPipe:
    """A pipe that takes some lines and then is closed."""

    def __init__(self, lines: int) -> None:
        self._lines = lines

    def write(self, _line: bytes) -> None:
        if not self._lines:
            raise UpstreamGone("its standard input is closed")
        self._lines -= 1


async def test_a_request_that_could_not_be_written_did_not_run() -> None:
    peer = Peer(ClosedPipe(0).write, lambda _method, _params: None)
    failure = await started_alone(peer)
    assert (type(failure), failure.ran) == (UpstreamGone, False)


async def test_a_timeout_stays_a_timeout_when_the_cancellation_cannot_be_written() -> None:
    peer = Peer(ClosedPipe(1).write, lambda _method, _params: None)
    with pytest.raises(UpstreamTimeout):
        await peer.request("tools/call", {}, Patience(idle=0))


async def test_a_cancellation_stays_one_when_it_cannot_be_written() -> None:
    peer = Peer(ClosedPipe(1).write, lambda _method, _params: None)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await peer.request("tools/call", {}, LONG)
    assert scope.cancelled_caught


async def test_a_server_that_takes_no_answers_can_still_ask() -> None:
    Peer(ClosedPipe(0).write, lambda _method, _params: None).receive({"id": 1, "method": "ping"})


async def test_a_failure_can_be_told_to_several() -> None:
    gone = UpstreamGone("it ended", hint="start it", ran=False)
    again = gone.told_again(ran=True)
    assert (type(again), again.message, again.hint, again.ran) == (UpstreamGone, "it ended", "start it", True)
    refused = UpstreamRefused(-1, "no", {"d": 1}).told_again(ran=True)
    assert (refused.rpc_code, refused.message, refused.data, refused.ran) == (-1, "no", {"d": 1}, True)


async def test_patience_without_an_end_waits_for_ever() -> None:
    peer = connected(Wire())
    with anyio.move_on_after(0) as scope:
        await peer.request("listen", {}, Patience(idle=math.inf))
    assert scope.cancelled_caught
