"""What another gateway is shown of what is behind this one: bounded pages, nothing that leads back, nothing too far."""

import pytest

from index import Catalog, Judgement, Listing
from server.chains import PAGE_BYTES, PAGE_TOOLS, page, refuse_circles
from server.errors import GatewayError
from upstream_clients import JsonObject


def catalog(*listings: Listing) -> Catalog:
    whole = Catalog.empty()
    for listing in listings:
        whole = whole.with_listing(listing, lambda _id, _definition: Judgement())
    return whole


def listing(owner: str, *names: str, behind: tuple[str, ...] | None = None, text: str = "") -> Listing:
    """`behind`: the owner is a gateway, and its tools are behind these in turn."""
    meta: JsonObject = {"_meta": {"toolfold/path": list(behind), "own": 1}} if behind else {}
    tools = tuple({"name": name, "description": text, "inputSchema": {"type": "object"}, **meta} for name in names)
    return Listing("mcp", owner, tools, gateway=behind is not None)


def names(one: JsonObject) -> list[object]:
    tools = one["tools"]
    assert isinstance(tools, list)
    return [tool["name"] for tool in tools]


def all_pages(whole: Catalog) -> list[JsonObject]:
    pages = [page(whole.reachable(), {}, {"toolfold/path": ["a"]})]
    while cursor := pages[-1].get("nextCursor"):
        pages.append(page(whole.reachable(), {}, {"toolfold/path": ["a"]}, cursor))
    return pages


def test_pages_are_bounded_in_number_and_in_bytes_and_are_all_there_is() -> None:
    many = catalog(listing("one", *(f"t{number}" for number in range(1200))))
    big = catalog(listing("one", *(f"t{number}" for number in range(40)), text="x" * (PAGE_BYTES // 10)))
    for whole, sizes in ((many, [PAGE_TOOLS, PAGE_TOOLS, 200]), (big, [10, 10, 10, 10])):
        pages = [names(one) for one in all_pages(whole)]
        assert [len(one) for one in pages] == sizes
        assert [name for one in pages for name in one] == [tool.id for tool in whole.reachable()]


def test_a_cursor_of_somebody_elses_begins_where_it_would_stand() -> None:
    whole = catalog(listing("one", "a", "b", "c"))
    asked = {"toolfold/path": ["a"]}
    assert names(page(whole.reachable(), {}, asked, "mcp:one:aa")) == ["mcp:one:b", "mcp:one:c"]
    assert names(page(whole.reachable(), {}, asked, 7)) == ["mcp:one:a", "mcp:one:b", "mcp:one:c"]
    assert page(whole.reachable(), {}, asked, "z") == {"tools": []}


def test_nothing_is_shown_that_leads_back_to_who_asks_or_further_than_four() -> None:
    whole = catalog(
        listing("own", "t"),
        listing("b", "mcp:x:t", behind=()),
        listing("c", "mcp:b:mcp:x:t", behind=("B",)),
        listing("d", "mcp:e:mcp:f:mcp:x:t", behind=("E", "F")),
    )
    gateways = {"b": "B", "c": "C", "d": "D"}

    def shown(*path: str) -> list[object]:
        return names(page(whole.reachable(), gateways, {"toolfold/path": list(path)}))

    assert shown("somebody") == ["mcp:b:mcp:x:t", "mcp:c:mcp:b:mcp:x:t", "mcp:own:t"]
    assert shown("B") == ["mcp:own:t"]
    assert shown("C") == ["mcp:b:mcp:x:t", "mcp:own:t"]
    assert shown("1", "2") == ["mcp:b:mcp:x:t", "mcp:own:t"]
    assert shown("1", "2", "3") == ["mcp:own:t"]


def test_a_tool_tells_through_which_gateways_it_is_reached_and_keeps_the_rest_of_its_meta() -> None:
    whole = catalog(listing("c", "mcp:b:mcp:x:t", behind=("B",)))
    assert page(whole.reachable(), {"c": "C"}, {"toolfold/path": ["a"]})["tools"] == [
        {
            "name": "mcp:c:mcp:b:mcp:x:t",
            "description": "",
            "inputSchema": {"type": "object"},
            "_meta": {"toolfold/path": ["C", "B"], "own": 1},
        }
    ]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (["a", "us"], "chain_loop"),
        (["us"], "chain_loop"),
        (["1", "2", "3", "4"], "chain_too_long"),
        (["1", "2", "3", "4", "us"], "chain_too_long"),
        ("us", "chain_too_long"),
        ({"us": 1}, "chain_too_long"),
    ],
)
def test_a_request_that_went_in_a_circle_or_came_too_far_is_refused(path: object, code: str) -> None:
    with pytest.raises(GatewayError) as refused:
        refuse_circles("us", {"toolfold/path": path})
    assert refused.value.code == code


@pytest.mark.parametrize("meta", [{}, {"toolfold/path": []}, {"toolfold/path": ["1", "2", "3"]}])
def test_other_requests_pass(meta: JsonObject) -> None:
    refuse_circles("us", meta)
