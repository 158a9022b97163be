"""What an owner has, counted once when its listing comes: whoever tells of a large catalogue need not walk through it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from index.tool import Exposure, Tool


@dataclass(frozen=True, slots=True)
class Tally:
    """Some tools, counted by their exposure. `cached` when any of them is; by name those that are held back or warned of."""

    exposures: Mapping[str, int]
    cached: bool
    quarantined: tuple[Tool, ...]
    unavailable: tuple[Tool, ...]
    warned: tuple[Tool, ...]

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(
            dict(Counter(self.exposures) + Counter(other.exposures)),
            self.cached or other.cached,
            self.quarantined + other.quarantined,
            self.unavailable + other.unavailable,
            self.warned + other.warned,
        )


NOTHING = Tally({}, False, (), (), ())


def tally_of(tools: Iterable[Tool]) -> Tally:
    """The tally of these tools."""
    every = tuple(tools)
    return Tally(
        dict(Counter(str(tool.exposure) for tool in every)),
        any(tool.cached for tool in every),
        tuple(tool for tool in every if tool.exposure is Exposure.QUARANTINED),
        tuple(tool for tool in every if tool.exposure is Exposure.UNAVAILABLE),
        tuple(tool for tool in every if tool.warning),
    )
