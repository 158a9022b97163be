"""How well a catalogue can be searched: which of its tools are found by what they say of themselves, and what confuses.

Pure functions over a catalogue's tools and an index of them; files and tables are the caller's. Takes about two
searches a tool, so a large catalogue is a matter of seconds: call it from a worker thread.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from index.bill import shown_bytes
from index.descriptor import MAX_DESCRIPTION_CHARS, split_first_sentence
from index.questions import Question
from index.search import Match
from index.text import is_stop_word, words
from index.tool import Exposure, JsonObject, Tool

HITS = 5  # a model reads about so many hits before it asks again
MIN_WORDS = 2  # a description of which less is left says nothing beside the name
MAX_WORDS = 12  # of a description: what a person might say
NEAR_DUPLICATE = 0.8  # of all words of two tools; the same tool in two versions of a server has more


class Search(Protocol):
    """What is evaluated."""

    def search(self, query: str, limit: int) -> tuple[Match, ...]:
        """The best tools for a query."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A question whose tools are not among the first hits, and what is there. `unknown`: no tool is called so."""

    query: str
    wanted: tuple[str, ...]
    found: tuple[str, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """The part of some questions that was answered, from 0 to 1, and the others."""

    asked: int
    misses: tuple[Miss, ...]

    @property
    def recall(self) -> float:
        """1 when nothing was asked."""
        return 1 - len(self.misses) / self.asked if self.asked else 1.0


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two tools of different upstreams that say nearly the same."""

    first: str
    second: str
    shared: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is known of a catalogue's fitness for search."""

    by_description: Score
    by_questions: Score
    silent: tuple[str, ...]  # tools whose description says nothing beside their name
    near_duplicates: tuple[Likeness, ...]
    collisions: Mapping[str, tuple[str, ...]]  # name: ids
    shown_bytes: Mapping[str, int]  # owner: what its definitions would cost in a prompt, largest first

    def passes(self, threshold: float) -> bool:
        """Whether recall is high enough, by descriptions and by the user's own questions."""
        return min(self.by_description.recall, self.by_questions.recall) >= threshold


def evaluate(tools: Sequence[Tool], search: Search, questions: Sequence[Question] = ()) -> Evaluation:
    """Judge the tools of a catalogue that search may find, and how well it finds them."""
    found = [tool for tool in tools if tool.exposure is Exposure.CATALOG]
    own = {tool.id: own_query(tool) for tool in found}
    asked = [Question(query, (tool_id,)) for tool_id, query in own.items() if query]
    names = _Names(found)
    return Evaluation(
        by_description=_score(asked, search, names),
        by_questions=_score(questions, search, names),
        silent=tuple(tool_id for tool_id, query in own.items() if not query),
        near_duplicates=_near_duplicates(found, search),
        collisions=_collisions(found),
        shown_bytes=_shown_bytes(found),
    )


def own_query(tool: Tool) -> str:
    """What a person might ask who needs the tool and does not know its name; empty when it says too little of itself."""
    first, rest = split_first_sentence(tool.description[:MAX_DESCRIPTION_CHARS].strip())
    name = frozenset(words(tool.bare_name))
    said = [word for text in (first, rest) for word in words(text) if word not in name and not is_stop_word(word)]
    return " ".join(said[:MAX_WORDS]) if len(said) >= MIN_WORDS else ""


class _Names:
    """Which ids a question's tools stand for."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._ids: dict[str, list[str]] = defaultdict(list)
        for tool in tools:
            for name in {tool.id, tool.name, tool.bare_name}:
                self._ids[name].append(tool.id)

    def ids(self, wanted: str) -> Sequence[str]:
        return self._ids.get(wanted, ())


def _score(questions: Iterable[Question], search: Search, names: _Names) -> Score:
    asked, misses = 0, []
    for question in questions:
        asked += 1
        found = tuple(match.tool_id for match in search.search(question.query, HITS))
        if set(found).isdisjoint(tool_id for one in question.wanted for tool_id in names.ids(one)):
            unknown = tuple(one for one in question.wanted if not names.ids(one))
            misses.append(Miss(question.query, question.wanted, found, unknown))
    return Score(asked, tuple(misses))


def _near_duplicates(tools: Sequence[Tool], search: Search) -> tuple[Likeness, ...]:
    """Pairs are looked for among what a tool's own words find, which leaves out nothing that a search would confuse."""
    known = {tool.id: tool for tool in tools}
    said = {tool.id: frozenset(words(f"{tool.bare_name} {tool.description}")) for tool in tools}
    pairs: dict[tuple[str, str], float] = {}
    for tool in tools:
        text = f"{tool.bare_name.replace('_', ' ')} {tool.description}"
        for match in search.search(text, HITS):
            other = known.get(match.tool_id)
            if other is None or other.owner == tool.owner:
                continue
            shared = len(said[tool.id] & said[other.id]) / (len(said[tool.id] | said[other.id]) or 1)
            if shared >= NEAR_DUPLICATE:
                first, second = sorted((tool.id, other.id))
                pairs[first, second] = shared
    return tuple(Likeness(first, second, shared) for (first, second), shared in sorted(pairs.items()))


def _collisions(tools: Iterable[Tool]) -> Mapping[str, tuple[str, ...]]:
    named: dict[str, list[str]] = defaultdict(list)
    for tool in tools:
        named[tool.bare_name].append(tool.id)
    return {name: tuple(ids) for name, ids in sorted(named.items()) if len(ids) > 1}


def _shown_bytes(tools: Iterable[Tool]) -> Mapping[str, int]:
    own: dict[str, list[JsonObject]] = defaultdict(list)
    for tool in tools:
        own[tool.owner].append(tool.definition)
    return dict(sorted(((owner, shown_bytes(its)) for owner, its in own.items()), key=lambda one: (-one[1], one[0])))
