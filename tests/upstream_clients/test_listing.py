import pytest

from tests.support.wire import Answer, Wire, error, in_turn, result
from upstream_clients import JsonObject, UpstreamProtocolFault, UpstreamRefused
from upstream_clients.era import LISTED_TOOLS, Greeter, list_tools
from upstream_clients.peer import Peer

ODD: JsonObject = {"name": "odd", "inputSchema": 5, "x-unknown": {"kept": [None]}}


def tools(*names: str) -> list[JsonObject]:
    return [{"name": name} for name in names]


def page(listed: object, cursor: object = None) -> Answer:
    return result({"tools": listed} if cursor is None else {"tools": listed, "nextCursor": cursor})


async def listed(wire: Wire) -> tuple[JsonObject, ...]:
    peer = Peer(wire.write, lambda _method, _params: None)
    wire.receive = peer.receive
    return await list_tools(peer, Greeter({}), "legacy", 60)


def cursors(wire: Wire) -> list[object]:
    asked = [message["params"] for message in wire.sent]
    return [params.get("cursor") for params in asked if isinstance(params, dict)]


async def test_all_pages_are_listed_in_order_and_untouched() -> None:
    wire = Wire(
        {"tools/list": in_turn(page([ODD, *tools("a")], "p2"), page([], "p3"), page([], "p4"), page(tools("b")))}
    )
    assert await listed(wire) == (ODD, {"name": "a"}, {"name": "b"})
    assert cursors(wire) == [None, "p2", "p3", "p4"]


@pytest.mark.parametrize(
    ("answers", "expected", "asked"),
    [
        ([page(tools("a"), "x"), page(tools("b"), "x")], ["a", "b"], 2),
        ([page(tools("a"), "x"), page(tools("b"), "y"), page(tools("c"), "x")], ["a", "b", "c"], 3),
        ([page(tools("a"), "x"), page(tools("a"), "x")], ["a"], 2),
        ([page(tools("a"), "1"), page(tools("a"), "2")], ["a"], 2),
        ([page(tools("a"), "")], ["a"], 1),
    ],
)
async def test_a_cursor_that_leads_nowhere_ends_the_listing(
    answers: list[Answer], expected: list[str], asked: int
) -> None:
    wire = Wire({"tools/list": in_turn(*answers)})
    assert await listed(wire) == tuple(tools(*expected))
    assert len(wire.sent) == asked


async def test_pages_without_end_are_a_fault() -> None:
    numbers = iter(range(10**6))

    def endless(_request: JsonObject) -> JsonObject:
        number = next(numbers)
        return {"result": {"tools": tools(str(number)), "nextCursor": str(number)}}

    wire = Wire({"tools/list": endless})
    with pytest.raises(UpstreamProtocolFault):
        await listed(wire)
    assert len(wire.sent) == 100


async def test_tools_without_end_are_cut() -> None:
    many = tools(*(str(number) for number in range(LISTED_TOOLS)))
    wire = Wire({"tools/list": in_turn(page(tools("first"), "x"), page(many, "y"))})
    assert await listed(wire) == tuple((tools("first") + many)[:LISTED_TOOLS])
    assert len(wire.sent) == 2


async def test_a_server_without_tools_has_none() -> None:
    assert await listed(Wire({"tools/list": error(-32601)})) == ()


@pytest.mark.parametrize("answers", [[error(-32603)], [page(tools("a"), "x"), error(-32601)]])
async def test_a_page_that_fails_fails_the_listing(answers: list[Answer]) -> None:
    with pytest.raises(UpstreamRefused):
        await listed(Wire({"tools/list": in_turn(*answers)}))


async def test_junk_in_place_of_a_tool_is_no_tool() -> None:
    assert await listed(Wire({"tools/list": page([5, None, "x", []])})) == ()


@pytest.mark.parametrize("malformed", [page(None), page(5), page({}), page("tools"), page([], 7), result({})])
async def test_a_malformed_page_does_not_pass_for_an_empty_one(malformed: Answer) -> None:
    with pytest.raises(UpstreamProtocolFault):
        await listed(Wire({"tools/list": malformed}))
