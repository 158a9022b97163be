"""What the concepts of a definition add up to: a sum of weights, made by `tests/benchmarks/weigh.py`.

A verdict in four steps: each sentence becomes the concepts that it affirms and those that it denies. A place is a sentence
and the next one of the same text. CERTAIN concepts of one sentence decide alone. Else the place's sum has the weight of
each concept of the sentence ("here"), of each telling one of the place and of each two groups that meet there ("near"), and
of how many telling concepts there are ("many"). Whatever is said can only add to it, but for consent, which lowers it by
no more than MOST_LOWERED; so nothing that is added to a text makes up for what it says. The worst place is the verdict.
The weights are in `words/weights.tsv`, for a person to read. Knows no words.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from server.concepts import Said, table
from server.suspicion_signs import TELLING, concepts
from server.suspicion_words import (
    ADDRESSES,
    CONCEALS,
    DIVERTS,
    OBEYS,
    OTHER_TOOLS,
    OVERRIDES,
    PUSHES,
    SECRETS,
    SMUGGLES,
)
from server.suspicion_words import MEANINGS as PHRASE_MEANINGS

ENOUGH: Final = 0.0
"""The sum from which a place is suspicious: the weights are made so."""

START: Final = "every place"
"""The feature of what a sum begins with."""

MOST_KNOWN_PLACES: Final = 8192
"""Different places whose sum is remembered."""

GROUPS: Final = {
    "collect": "carry|read",
    "object": "keyfile|secret|talk|personal|typed|rules|opened",
    "strong": "keyfile|talk|typed|rules",
    "into": "input_name|sink|input",
    "out": "address|copy",
    "secrecy": "hide|skip|!tell",
    "show": "present|own|answer|promo",
    "others": "foreign|other|elsewhere|hand|kind",
    "press": "turn|threat|every|first|force",
    "excuse": "pretext|authority|lift|ignore",
    "who": "model|direct",
    "person": "user",
    "deed": "ruin|obey|shell|downgrade|command",
    "when": "when",
    "side": "param",
    "worse": "bad|prefer",
    "code": "encoded",
    "safe": "consent|cites",
    "says": "p_conceals|p_overrides|p_addresses|p_secrets|p_others|p_pushes|p_diverts|p_smuggles|p_obeys",
    "lasting": "persist|work",
}
"""Concepts that do the same in a sentence. "!" where the sentence denies it."""

DENIED: Final = "tell|ask|carry|read|other|foreign|user|answer|hide|secret|talk|skip|every"
"""Concepts that count where they are denied, too."""

MOST_TELLING: Final = 8

CERTAINTY: Final = 100.0
CERTAIN: Final = (
    *((f"p_{name}",) for name in PHRASE_MEANINGS),
    ("keyfile", "input_name", "carry"),
    ("foreign", "bad|skip"),
)
"""What is suspicious whatever else is said: phrases that a description has no reason for, a file of secrets that is to be
put into a parameter, and another server's tool that is run down."""

MOST_LOWERED: Final = 1.0
"""How much less a sum becomes at most by what is said of consent: it is free to say."""

MEANINGS: Final = (
    *((f"p_{name}", meaning) for name, meaning in PHRASE_MEANINGS.items()),
    ("keyfile|secret", SECRETS),
    ("talk|typed|rules|personal", SMUGGLES),
    ("hide", CONCEALS),
    ("foreign|other|elsewhere|hand", OTHER_TOOLS),
    ("lift|authority|ignore|skip", OVERRIDES),
    ("address|copy", DIVERTS),
    ("shell|encoded|obey", OBEYS),
    ("turn|first", PUSHES),
)
"""What a place amounts to, by what it speaks of."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a sentence says, and what it and the next one say."""

    here: Said
    near: Said


def places(texts: Iterable[Sequence[Said]]) -> dict[Place, int]:
    """The different places of a definition that hold something telling, and the text that each is in."""
    found: dict[Place, int] = {}
    telling, tell = _mask(TELLING), _mask("tell")
    for number, text in enumerate(texts):
        for here, following in zip(text, (*text[1:], Said()), strict=False):
            near = Said(here.affirmed | following.affirmed, here.denied | following.denied)
            if near.affirmed & telling or near.denied & tell:
                found.setdefault(Place(here, near), number)
    return found


def features(place: Place) -> tuple[str, ...]:
    """What is weighed at a place."""
    here = [f"here {name}" for name in _names(place.here.affirmed)]
    here += [f"here !{name}" for name in _names(place.here.denied & _mask(DENIED))]
    here += [f"near {name}" for name in _names(place.near.affirmed & _mask(TELLING))]
    here += [f"near {one} + {two}" for one, two in combinations(_groups(place.near), 2)]
    many = min(MOST_TELLING, (place.near.affirmed & _mask(TELLING)).bit_count())
    return (*here, *(f"many {count}" for count in range(1, many + 1)))


def lowers(feature: str) -> bool:
    """Whether a feature may only make a sum less; all others may only make it more."""
    return "safe" in feature.split() or feature.endswith((" consent", " cites"))


def amounts_to(texts: Iterable[Sequence[Said]]) -> tuple[int, str] | None:
    """The text that has the worst place, and what that amounts to; nothing where no place is bad enough."""
    found = places(texts)
    worst = max(found, key=weight, default=None)
    if worst is None or weight(worst) <= ENOUGH:
        return None
    meaning = _meaning(worst.here.affirmed) or _meaning(worst.near.affirmed) or ADDRESSES
    return found[worst], meaning


def _meaning(affirmed: int) -> str:
    return next((meaning for names, meaning in MEANINGS if affirmed & _mask(names)), "")


@functools.lru_cache(MOST_KNOWN_PLACES)
def weight(place: Place) -> float:
    if any(all(place.here.affirmed & _mask(name) for name in names) for names in CERTAIN):
        return CERTAINTY
    known = weights()
    found = [known.get(feature, 0.0) for feature in features(place)]
    lowered = sum(value for value in found if value < 0)
    return known[START] + sum(value for value in found if value > 0) + max(-MOST_LOWERED, lowered)


@functools.cache
def weights() -> Mapping[str, float]:
    """By feature."""
    return {feature: float(value) for feature, value in table("weights.tsv")}


@functools.cache
def _mask(names: str) -> int:
    return concepts().mask(names)


def _names(bits: int) -> list[str]:
    return [name for name, bit in concepts().bits.items() if bits & bit]


def _groups(said: Said) -> list[str]:
    return [group for group, (affirmed, denied) in _group_masks() if said.affirmed & affirmed or said.denied & denied]


@functools.cache
def _group_masks() -> tuple[tuple[str, tuple[int, int]], ...]:
    split = {group: names.split("|") for group, names in GROUPS.items()}
    return tuple(
        (
            group,
            (
                _mask("|".join(name for name in names if name[0] != "!")),
                sum(concepts().bits[name[1:]] for name in names if name[0] == "!"),
            ),
        )
        for group, names in split.items()
    )
