"""How closeness in meaning changes an answer: added to scores, never to certainty, and only to what words have found."""

from collections.abc import Mapping, Sequence

import pytest

from index import Confidence, Exposure, JsonObject, Near, SearchIndex, Tool
from index.semantic import WEIGHT, fused, meaning_text


def tool(identity: str, description: str, exposure: Exposure = Exposure.CATALOG) -> Tool:
    owner, name = identity.split(":")
    definition: JsonObject = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return Tool(f"mcp:{identity}", "mcp", owner, name, definition, exposure, "", False, False)


TOOLS = (
    tool("shop:buy_pizza", "Order a meal."),
    tool("shop:list_orders", "List the orders of a customer."),
    tool("travel:reserve_seat", "Reserve a place on a train."),
    tool("admin:reboot", "Restart.", Exposure.HIDDEN),
)
IDS = {one.name: one.id for one in TOOLS}


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex.build(TOOLS)


def near(**closeness: float) -> Near:
    """Says how close each tool is, whatever the query; one that is not named is not close."""

    def answer(_query: str, count: int, others: Sequence[str]) -> Mapping[str, float]:
        nearest = sorted(closeness, key=lambda name: -closeness[name])[:count]
        named = [name for name in closeness if IDS.get(name, name) in others]
        return {IDS.get(name, name): closeness[name] for name in {*nearest, *named}}

    return answer


def names(index: SearchIndex, query: str, near: Near | None = None, limit: int = 8) -> list[str]:
    return [match.tool_id.rsplit(":", 1)[1] for match in index.search(query, limit, near)]


def test_closeness_orders_what_words_have_found_and_brings_in_what_they_have_not(index: SearchIndex) -> None:
    assert names(index, "order a meal") == ["buy_pizza", "list_orders"]
    assert names(index, "order a meal", near(list_orders=0.001)) == ["buy_pizza", "list_orders"]
    assert names(index, "order a meal", near(list_orders=1.0)) == ["list_orders", "buy_pizza"]
    assert names(index, "orders", near(buy_pizza=0.9)) == ["buy_pizza", "list_orders"]
    assert names(index, "order a meal", near(reserve_seat=0.01)) == ["buy_pizza", "list_orders", "reserve_seat"]
    assert names(index, "order a meal", near(reserve_seat=0.01), 2) == ["buy_pizza", "list_orders"]


def test_closeness_makes_no_answer_where_words_find_none(index: SearchIndex) -> None:
    for query in ("", "?!", "the of and", "zeppelin", "get weather"):
        assert index.search(query, 8, near(buy_pizza=1.0, reserve_seat=1.0)) == ()


def test_how_sure_a_hit_is_its_words_alone_decide(index: SearchIndex) -> None:
    plain = {match.tool_id: match.confidence for match in index.search("order a meal", 8)}
    meant = {m.tool_id: m.confidence for m in index.search("order a meal", 8, near(list_orders=1.0, reserve_seat=1.0))}
    assert meant == {**plain, IDS["reserve_seat"]: Confidence.LOW}


def test_what_the_query_names_stays_first(index: SearchIndex) -> None:
    assert names(index, "list_orders", near(buy_pizza=1.0, list_orders=-1.0))[0] == "list_orders"


def test_what_is_near_but_not_in_the_index_is_not_found(index: SearchIndex) -> None:
    close = near(reboot=1.0, **{"mcp:gone:tool": 1.0, "zzz": 1.0, "": 1.0})
    assert names(index, "order a meal", close) == ["buy_pizza", "list_orders"]


def test_an_explanation_has_the_meaning_among_its_bonuses_and_adds_up(index: SearchIndex) -> None:
    close = near(list_orders=0.5, reserve_seat=0.25)
    matches = index.search("order a meal", 8, close)
    explained = index.explain("order a meal", 8, {one.id: one for one in TOOLS}.get, close)
    assert [one.tool_id for one in explained] == [match.tool_id for match in matches]
    assert {one.tool_id: one.bonuses.get("meaning") for one in explained} == {
        IDS["list_orders"]: 0.5 * WEIGHT,
        IDS["buy_pizza"]: None,
        IDS["reserve_seat"]: 0.25 * WEIGHT,
    }
    for match, one in zip(matches, explained, strict=True):
        assert one.score == pytest.approx(match.score, abs=1e-3)


def test_scores_are_added_and_what_is_turned_away_is_not_punished() -> None:
    assert fused({"a": 2.0, "b": 1.0}, {"b": 0.5, "c": 0.1, "a": -0.9}) == pytest.approx(
        {"a": 2.0, "b": 1.0 + 0.5 * WEIGHT, "c": 0.1 * WEIGHT}
    )


def test_the_meaning_of_a_tool_is_that_of_its_name_and_description() -> None:
    assert meaning_text(tool("o:buyPizza", " Order a meal. ")) == "buy pizza buypizza: Order a meal."
    assert len(meaning_text(tool("o:x", "word " * 9_000))) == 1_000
