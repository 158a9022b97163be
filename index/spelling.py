"""Which word of the catalogue an unknown word was probably meant to be: the one that shares most of its trigrams.

Asked only for words that occur nowhere, so it can never take a good word's place.
"""

import heapq
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable

MIN_CHARS = 4  # a shorter word shares its two or three trigrams with too many others
MIN_CLOSENESS = 0.45  # of 1; 0.4 and 0.5 find the same with a third of the long words damaged, 0.55 loses a little


class Spelling:
    """The words of a catalogue by their trigrams. Built once, then only read."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted({word for word in words if _is_spelled(word)})
        self._sizes = [len(_trigrams(word)) for word in self._words]
        by_trigram: dict[str, array[int]] = defaultdict(lambda: array("I"))
        for number, word in enumerate(self._words):
            for trigram in _trigrams(word):
                by_trigram[trigram].append(number)
        self._by_trigram = dict(by_trigram)

    def nearest(self, word: str) -> tuple[str, float] | None:
        """The closest word and how close it is, 1 being the same; ties by the alphabet. None when none is close."""
        close = self.closest(word, 1)
        return close[0] if close and close[0][1] >= MIN_CLOSENESS else None

    def closest(self, word: str, count: int) -> list[tuple[str, float]]:
        """The closest words, however far, with how close they are."""
        if not _is_spelled(word):
            return []
        asked = _trigrams(word)
        shared = Counter[int]()
        for trigram in asked:
            shared.update(self._by_trigram.get(trigram, ()))
        found = ((2 * many / (len(asked) + self._sizes[number]), -number) for number, many in shared.items())
        return [(self._words[-negative], closeness) for closeness, negative in heapq.nlargest(count, found)]


def _is_spelled(word: str) -> bool:
    return len(word) >= MIN_CHARS and word.isalpha()


def _trigrams(word: str) -> set[str]:
    padded = f"^{word}$"
    return {padded[start : start + 3] for start in range(len(padded) - 2)}
