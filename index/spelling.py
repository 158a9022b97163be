"""Which word of the catalogue an unknown word was probably meant to be: the one that shares most of its trigrams.

Asked only for words that occur nowhere, so it can never take a good word's place.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set

from index.giving_way import GiveWay, giving_way, never

MIN_CHARS = 4  # a shorter word shares its two or three trigrams with too many others
MIN_CLOSENESS = 0.45  # of 1; 0.4 and 0.5 find the same with a third of the long words damaged, 0.55 loses a little


class Spelling:
    """The words of a catalogue by their trigrams. Never changes; one made after another reads only what differs."""

    def __init__(self, words: Iterable[str], before: "Spelling | None" = None, give_way: GiveWay = never) -> None:
        known: Mapping[str, int] = before._sizes if before else {}
        by_trigram: Mapping[str, tuple[str, ...]] = before._by_trigram if before else {}
        spelled = {word for word in words if _is_spelled(word)}
        new, gone = spelled - known.keys(), known.keys() - spelled
        added = _by_trigram(giving_way(new, give_way))
        touched = added.keys() | _by_trigram(gone).keys()
        self._by_trigram: Mapping[str, tuple[str, ...]] = {
            **by_trigram,
            **{trigram: _changed(by_trigram.get(trigram, ()), gone, added.get(trigram, [])) for trigram in touched},
        }
        self._sizes: Mapping[str, int] = {
            word: known.get(word) or len(_trigrams(word)) for word in giving_way(spelled, give_way)
        }

    def nearest(self, word: str) -> tuple[str, float] | None:
        """The closest word and how close it is, 1 being the same; ties by the alphabet. None when none is close."""
        close = self.closest(word, 1)
        return close[0] if close and close[0][1] >= MIN_CLOSENESS else None

    def closest(self, word: str, count: int) -> list[tuple[str, float]]:
        """The closest words, however far, with how close they are."""
        if not _is_spelled(word):
            return []
        asked = _trigrams(word)
        shared = Counter[str]()
        for trigram in asked:
            shared.update(self._by_trigram.get(trigram, ()))
        found = ((-2 * many / (len(asked) + self._sizes[word]), word) for word, many in shared.items())
        return [(word, -farness) for farness, word in heapq.nsmallest(count, found)]


def _by_trigram(words: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for word in words:
        for trigram in _trigrams(word):
            found[trigram].append(word)
    return found


def _changed(words: tuple[str, ...], gone: Set[str], added: Iterable[str]) -> tuple[str, ...]:
    return (*(word for word in words if word not in gone), *added)


def _is_spelled(word: str) -> bool:
    return len(word) >= MIN_CHARS and word.isalpha()


def _trigrams(word: str) -> set[str]:
    padded = f"^{word}$"
    return {padded[start : start + 3] for start in range(len(padded) - 2)}
