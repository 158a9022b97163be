"""The number tools of the `everyday` server: what a caller may reckon, over `arithmetic` and `units`."""

import math
import statistics
from difflib import get_close_matches
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from server.demo.arithmetic import MAX_CHARS, ExpressionError, evaluate
from server.demo.serving import Refused
from server.demo.units import UNITS, convert

MAX_NUMBERS = 10_000
# A double holds 15 digits for certain; the 16th and 17th are noise from binary fractions such as 0.1 + 0.2.
DIGITS = 15
# Converting adds and divides, which costs a few more; no measured quantity has as many.
CONVERTED_DIGITS = 12
KNOWN_UNITS = f"Known: {', '.join(UNITS)}."

Number = Annotated[float, Field(allow_inf_nan=False)]
Unit = Annotated[str, Field(description="Symbol of a unit, such as 'km', 'lb' or 'C'.", max_length=20)]


class Calculation(BaseModel, frozen=True):
    expression: str
    result: Annotated[str, Field(description="The value in decimal notation; whole numbers are exact.")]


class Converted(BaseModel, frozen=True):
    value: float
    unit: str
    dimension: Annotated[str, Field(description="What the unit measures, and the base unit.")]


class Statistics(BaseModel, frozen=True):
    count: int
    total: float
    mean: float
    median: float
    smallest: float
    largest: float
    standard_deviation: Annotated[float | None, Field(description="Of a sample; null for a single number.")]
    quartiles: Annotated[list[float] | None, Field(description="The three cuts; null for a single number.")]


def calculate(
    expression: Annotated[
        str,
        Field(description="Such as '2 * (3 + sqrt(16)) ** 2'. Use ** for powers.", min_length=1, max_length=MAX_CHARS),
    ],
) -> Calculation:
    """Evaluate an arithmetic expression.

    Operators + - * / // % **, parentheses, pi, e and tau, and functions such as sqrt, round, min, max, log, sin, gcd
    and factorial. Whole numbers are exact.
    """
    try:
        value = evaluate(expression)
    except ExpressionError as error:
        raise Refused(f"Cannot evaluate this: {error}.") from error
    return Calculation(expression=expression, result=str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}")


def convert_units(value: Number, source_unit: Unit, target_unit: Unit) -> Converted:
    """Convert between units of length, mass, volume, area, speed, duration, data, energy, pressure or temperature."""
    for unit in (source_unit, target_unit):
        if unit not in UNITS:
            close = get_close_matches(unit, UNITS, n=3, cutoff=0.4)
            raise Refused(
                f"There is no unit {unit!r}. " + (f"Close: {', '.join(close)}. " if close else "") + KNOWN_UNITS
            )
    try:
        converted = convert(value, source_unit, target_unit)
    except ValueError as error:
        raise Refused(f"{error}. Both must measure the same.") from error
    return Converted(value=_rounded(converted, CONVERTED_DIGITS), unit=target_unit, dimension=UNITS[target_unit][0])


def describe_numbers(
    numbers: Annotated[list[Number], Field(description="The values.", min_length=1, max_length=MAX_NUMBERS)],
) -> Statistics:
    """Sum up a list of numbers: count, total, mean, median, range, standard deviation and quartiles."""
    several = len(numbers) > 1
    try:
        return Statistics(
            count=len(numbers),
            total=_rounded(math.fsum(numbers)),
            mean=_rounded(statistics.fmean(numbers)),
            median=_rounded(statistics.median(numbers)),
            smallest=min(numbers),
            largest=max(numbers),
            standard_deviation=_rounded(statistics.stdev(numbers)) if several else None,
            quartiles=[_rounded(cut) for cut in statistics.quantiles(numbers, n=4)] if several else None,
        )
    except OverflowError as error:
        raise Refused("These numbers are too large to be summed up.") from error


def percentage(
    question: Annotated[
        Literal["percent_of", "what_percent", "change"],
        Field(
            description="percent_of: `first` percent of `second`. what_percent: which share of `second` is `first`. "
            "change: by how many percent one gets from `first` to `second`."
        ),
    ],
    first: Number,
    second: Number,
) -> Calculation:
    """Answer one of the three questions about percentages."""
    divisor = {"percent_of": 100.0, "what_percent": second, "change": first}[question]
    if divisor == 0:
        raise Refused("A share of nothing, or a change from nothing, has no percentage.")
    expression, value = {
        "percent_of": (f"{first:g}% of {second:g}", first * second / 100),
        "what_percent": (f"{first:g} as % of {second:g}", first / divisor * 100),
        "change": (f"from {first:g} to {second:g} in %", (second - first) / divisor * 100),
    }[question]
    return Calculation(expression=expression, result=f"{_rounded(value):.{DIGITS}g}")


def _rounded(value: float, digits: int = DIGITS) -> float:
    if not math.isfinite(value):
        raise Refused("The result is too large a number.")
    return float(f"{value:.{digits}g}")
