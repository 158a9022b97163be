"""Reads one object of a file into its model, and mends what does not fit: a value out of bounds becomes the bound,
a value of the wrong type is left out so that the default stands. The caller decides what a mended key means.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeAlias, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from server.config.findings import Findings, closest, shown
from server.config.settings import Section

JsonObject: TypeAlias = dict[str, object]
SectionT = TypeVar("SectionT", bound=Section)

# Enough to see what is wrong with an object; the close-match search for each of thousands would take minutes.
MAX_UNKNOWN_KEYS = 20


@dataclass(frozen=True, slots=True)
class Mended:
    key: str  # the key in the object, for looking up
    place: str  # the key or what is inside it: `env.PORT`, `args[2]`
    message: str
    is_clamped: bool


@dataclass(frozen=True, slots=True)
class Reading(Generic[SectionT]):
    section: SectionT
    mended: tuple[Mended, ...]


def read_section(model: type[SectionT], written: JsonObject) -> Reading[SectionT]:
    """`written` as a `model`. `null` counts as not written; keys that the model does not have are left out."""
    known = keys_of(model)
    kept = {key: value for key, value in written.items() if value is not None and key in known}
    mended: list[Mended] = []
    while True:
        try:
            return Reading(model.model_validate(kept), tuple(mended))
        except ValidationError as error:
            # Ends: every round takes a key away or puts it inside its bounds.
            for details in error.errors(include_url=False, include_input=False):
                if details["loc"][0] in kept:
                    mended.append(_mend(kept, details))


def keys_of(model: type[Section]) -> frozenset[str]:
    """The keys of a section, as a file spells them."""
    return frozenset(declared.alias or name for name, declared in model.model_fields.items())


def unknown_keys(written: Iterable[str], known: Collection[str]) -> list[str]:
    """The keys that nobody knows. Those that are comments may stay."""
    return [key for key in written if key not in known and not key.startswith(("$", "//", "_", "x-"))]


def warn_of_unknown_keys(
    written: Mapping[str, object],
    ours: Collection[str],
    where: str,
    findings: Findings,
    also_known: Collection[str] = (),
) -> None:
    """Tells which keys nobody knows, with the one of ours that may have been meant."""
    unknown = unknown_keys(written, {*ours, *also_known})
    for key in islice(unknown, MAX_UNKNOWN_KEYS):
        if findings.is_full:
            return
        meant = closest(key, ours)
        fix = f"Did you mean `{meant}`?" if meant else "Remove it, or check its spelling."
        findings.warn("unknown_key", where, f"`{shown(key)}` is not a key that toolfold knows.", fix)
    if len(unknown) > MAX_UNKNOWN_KEYS:
        message = f"{len(unknown) - MAX_UNKNOWN_KEYS} more keys here are not known."
        findings.warn("unknown_key", where, message, "Check that this is the right file.")


def warn_of_mended(mended: tuple[Mended, ...], where: str, findings: Findings) -> None:
    for each in mended:
        if each.is_clamped:
            findings.warn("out_of_bounds", where, each.message, "The nearest value that is allowed is used.")
        elif each.key == "pins":  # a slip in what is to protect must not open it
            findings.warn("wrong_type", where, each.message, "The strictest, 'strict', is used; correct the value.")
        else:
            findings.warn("wrong_type", where, each.message, "The default is used; correct the value.")


def _mend(kept: JsonObject, details: ErrorDetails) -> Mended:
    key = str(details["loc"][0])
    context = details.get("ctx", {})
    bound = context.get("ge", context.get("le"))
    if bound is None:
        kept.pop(key, None)
    else:
        kept[key] = bound
    place = _place(details["loc"])
    demand = (
        details["msg"]
        .replace("Input should be", "should be")
        .replace("valid tuple", "list")
        .replace("valid ", "")
        .replace(" a integer", " an integer")
    )
    return Mended(key, place, f"`{place}` {demand}.", bound is not None)


def _place(location: tuple[int | str, ...]) -> str:
    path = shown(str(location[0]))
    for step in location[1:]:
        path += f"[{step}]" if isinstance(step, int) else f".{shown(step)}"
    return path
