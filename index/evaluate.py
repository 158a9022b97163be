"""How well a catalogue can be searched: which of its tools are found by what they say of themselves, and what confuses.

Pure functions over a catalogue's tools and an index of them; files and tables are the caller's. Takes about two
searches a tool, so a large catalogue is a matter of seconds: call it from a worker thread.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from index.cost import tokens
from index.descriptor import MAX_DESCRIPTION_CHARS, split_first_sentence
from index.search import Match
from index.text import is_stop_word, words
from index.tool import Exposure, Tool

HITS = 5  # a model reads about so many hits before it asks again
MIN_WORDS = 2  # a description of which less is left says nothing beside the name
MAX_WORDS = 12  # of a description: what a person might say
NEAR_DUPLICATE = 0.8  # of all words of two tools; the same tool in two versions of a server has more


class Search(Protocol):
    """What is evaluated."""

    def search(self, query: str, limit: int) -> tuple[Match, ...]:
        """The best tools for a query."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the ids of the tools that answer it; one of them is enough."""

    query: str
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """A question whose tools are not among the first hits, and what is there."""

    query: str
    wanted: tuple[str, ...]
    found: tuple[str, ...]


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
    tokens: Mapping[str, int]  # owner: what its definitions would cost in a prompt

    def passes(self, threshold: float) -> bool:
        """Whether recall is high enough, by descriptions and by the user's own questions."""
        return min(self.by_description.recall, self.by_questions.recall) >= threshold


def evaluate(tools: Sequence[Tool], search: Search, questions: Sequence[Question] = ()) -> Evaluation:
    """Judge the tools of a catalogue that search may find."""
    found = [tool for tool in tools if tool.exposure is Exposure.CATALOG]
    own = {tool.id: own_query(tool) for tool in found}
    asked = [Question(query, (tool_id,)) for tool_id, query in own.items() if query]
    return Evaluation(
        by_description=_score(asked, search),
        by_questions=_score(questions, search),
        silent=tuple(tool_id for tool_id, query in own.items() if not query),
        near_duplicates=_near_duplicates(found, search),
        collisions=_collisions(found),
        tokens=_tokens(found),
    )


def own_query(tool: Tool) -> str:
    """What a person might ask who needs the tool and does not know its name; empty when it says too little of itself."""
    first, rest = split_first_sentence(tool.description[:MAX_DESCRIPTION_CHARS].strip())
    name = frozenset(words(tool.name))
    said = [word for text in (first, rest) for word in words(text) if word not in name and not is_stop_word(word)]
    return " ".join(said[:MAX_WORDS]) if len(said) >= MIN_WORDS else ""


def read_questions(text: str) -> list[Question]:
    """Questions from lines of a query, a tab and the ids that answer it, divided by "|"; "#" begins a remark.

    Raises:
        ValueError: a line has no query or no id; the message names the line.
    """
    questions = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        query, _, ids = line.partition("\t")
        wanted = tuple(one.strip() for one in ids.split("|") if one.strip())
        if not query.strip() or not wanted:
            raise ValueError(f"line {number} is not a query, a tab and the ids that answer it, divided by '|'")
        questions.append(Question(query.strip(), wanted))
    return questions


def _score(questions: Iterable[Question], search: Search) -> Score:
    asked, misses = 0, []
    for question in questions:
        asked += 1
        found = tuple(match.tool_id for match in search.search(question.query, HITS))
        if not set(found) & set(question.wanted):
            misses.append(Miss(question.query, question.wanted, found))
    return Score(asked, tuple(misses))


def _near_duplicates(tools: Sequence[Tool], search: Search) -> tuple[Likeness, ...]:
    """Pairs are looked for among what a tool's own words find, which leaves out nothing that a search would confuse."""
    known = {tool.id: tool for tool in tools}
    said = {tool.id: frozenset(words(f"{tool.name} {tool.description}")) for tool in tools}
    pairs: dict[tuple[str, str], float] = {}
    for tool in tools:
        text = f"{tool.name.replace('_', ' ')} {tool.description}"
        for match in search.search(text, HITS):
            other = known.get(match.tool_id)
            if other is None or other.owner == tool.owner:
                continue
            shared = len(said[tool.id] & said[other.id]) / len(said[tool.id] | said[other.id])
            if shared >= NEAR_DUPLICATE:
                first, second = sorted((tool.id, other.id))
                pairs[first, second] = shared
    return tuple(Likeness(first, second, shared) for (first, second), shared in sorted(pairs.items()))


def _collisions(tools: Iterable[Tool]) -> Mapping[str, tuple[str, ...]]:
    named: dict[str, list[str]] = defaultdict(list)
    for tool in tools:
        named[tool.name].append(tool.id)
    return {name: tuple(ids) for name, ids in sorted(named.items()) if len(ids) > 1}


def _tokens(tools: Iterable[Tool]) -> Mapping[str, int]:
    size: Counter[str] = Counter()
    for tool in tools:
        size[tool.owner] += len(json.dumps(tool.definition, ensure_ascii=False, separators=(",", ":")).encode())
    return {owner: tokens(count) for owner, count in size.most_common()}
