"""Which words of the trade stand for each other: the groups of `words/synonyms.txt`, which a person may correct.

Phrases are tuples of stemmed words. Knows no index: whether a word occurs anywhere is not asked here.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import TypeAlias

from index.text import Stem, is_stop_word, term_of, words

MAX_PHRASE_WORDS = 3  # "how many", "real estate", "search engine optimization"

Phrase: TypeAlias = tuple[str, ...]
Synonyms: TypeAlias = Mapping[Phrase, tuple[Phrase, ...]]
"""For each phrase that a query may hold, the phrases to look for besides."""


def synonyms(stem: Stem) -> Synonyms:
    """The groups as one table. A phrase with a stop word in it is understood, but never looked for."""
    table: dict[Phrase, dict[Phrase, None]] = defaultdict(dict)
    for members in _groups(resources.files("index").joinpath("words/synonyms.txt").read_text("utf-8")):
        phrases = [tuple(term_of(word, stem) for word in words(member)) for member in members]
        sought = [
            phrase
            for phrase, member in zip(phrases, members, strict=True)
            if not any(is_stop_word(word) for word in words(member))
        ]
        for phrase in phrases:
            table[phrase] |= dict.fromkeys(other for other in sought if other != phrase)
    return {phrase: tuple(others) for phrase, others in table.items()}


def _groups(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        group = line.partition("#")[0].strip()
        if group:
            yield group.split(",")
