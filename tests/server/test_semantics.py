"""Search by meaning, off by default: vectors made in the background, kept by their text, and never waited for."""

import logging
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest

from index import Catalog, Judgement, Listing, Near
from server.semantics import Meanings, NoModel
from server.wordllama import WordLlama
from tests.support.cli_runs import toolfold
from tests.support.gateways import gateway
from tests.support.upstreams import entry, write_config
from upstream_clients import JsonObject

MEAL: JsonObject = {"name": "buy_pizza", "description": "Order a meal.", "inputSchema": {"type": "object"}}
SEAT: JsonObject = {"name": "reserve_seat", "description": "A place on a train.", "inputSchema": {"type": "object"}}


class Letters:
    """A model that takes texts for close that begin alike, and remembers what it was given."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def vectors(self, texts: Sequence[str]) -> Sequence[object]:
        self.embedded += texts
        return [text[:1] for text in texts]

    def near(self, ids: Sequence[str], vectors: Sequence[object]) -> Near:
        def answer(query: str, count: int, others: Sequence[str]) -> Mapping[str, float]:
            return {one: float(vector == query[:1]) for one, vector in zip(ids, vectors, strict=True)}

        return answer


def catalog(*definitions: JsonObject) -> Catalog:
    listing = Listing("mcp", "shop", definitions)
    return Catalog.empty().with_listing(listing, lambda _id, _definition: Judgement())


async def test_each_text_is_embedded_once_and_forgotten_when_its_tool_has_gone() -> None:
    model = Letters()
    meanings = Meanings(lambda: model)
    assert meanings.near() is None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(meanings.run)
        for tools in ((MEAL,), (MEAL, SEAT), (SEAT,), (SEAT,), (MEAL, SEAT)):
            meanings.follow(catalog(*tools))
            with anyio.fail_after(10):
                await meanings.caught_up()
        tasks.cancel_scope.cancel()
    assert [text.split(" ")[0] for text in model.embedded] == ["buy", "reserve", "buy"]
    near = meanings.near()
    assert near is not None
    assert near("book a table", 5, ()) == {"mcp:shop:buy_pizza": 1.0, "mcp:shop:reserve_seat": 0.0}


async def test_without_a_model_search_goes_by_words_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    def load() -> Letters:
        raise NoModel("there is none")

    meanings = Meanings(load)
    with caplog.at_level(logging.WARNING), anyio.fail_after(10):
        meanings.follow(catalog(MEAL))
        await meanings.run()
        meanings.follow(catalog(MEAL, SEAT))
        await meanings.caught_up()
    assert meanings.near() is None
    assert caplog.messages == ["search goes by words alone: there is none"]


async def test_it_is_off_by_default(tmp_path: Path) -> None:
    async with gateway(tmp_path, {"shop": entry(tools=[MEAL])}) as opened:
        await opened.search("order a meal")
        assert repr(opened.running.meanings) == "<Meanings off>"


def test_check_says_that_the_model_is_missing(tmp_path: Path) -> None:
    write_config(tmp_path, {"shop": entry(tools=[MEAL])}, {"semantic": True})
    ran = toolfold(tmp_path, "check", "--json")
    missing = [one for one in ran.member("findings") if one["code"] == "no_model"]
    assert len(missing) == (find_spec("wordllama") is None)
    assert toolfold(tmp_path, "search", "meal", "--json").member("tools")  # by words, or by both


@pytest.mark.parametrize("files", [(), ("weights/l2_supercat_256.safetensors",)])
def test_a_package_that_is_not_whole_is_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...]
) -> None:
    for name in ("__init__.py", *files):
        path = tmp_path / "wordllama" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("raise NotImplementedError")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NoModel, match="cannot be used"):
        WordLlama.load()


@pytest.mark.skipif(find_spec("wordllama") is None, reason="the extra `semantic` is not installed")
def test_the_real_model_tells_what_is_close() -> None:
    model = WordLlama.load()
    texts = ["buy pizza: Order a meal.", "reserve seat: A place on a train.", "", "\ud800 x"]
    near = model.near(["a", "b", "c", "d"], model.vectors(texts))
    found = near("book a train ticket", 1, ["a", "c", "gone"])
    assert found.keys() == {"b", "a", "c"}
    assert found["b"] > found["a"]
    assert found["c"] == 0.0
    assert model.near([], [])("anything", 5, ["a"]) == {}
