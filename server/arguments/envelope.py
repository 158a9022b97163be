"""The forms in which a model hands over a tool's arguments: in `args`, in a wrapper of another name, or side by side.

1. A reading drops nothing: each key that was sent is a wrapper, or stands in the arguments, or is named in a problem.
2. A wrapper's name is the tool's own property where its schema has one; then there are two readings, and the caller
   takes the first that fits.
3. Nothing here knows a schema beyond the names of its properties.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from server.arguments.problems import Problem, pointer, quoted
from server.arguments.texts import read_structure

JsonObject: TypeAlias = dict[str, object]

# `args` is the documented name; the others are what models have learnt elsewhere.
WRAPPERS = ("args", "arguments", "input", "parameters", "params")


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a call: the arguments, what was done to find them, and which stood outside any wrapper."""

    arguments: JsonObject
    repairs: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


def readings(envelope: JsonObject, declared: Collection[str]) -> Iterator[Reading]:
    """The ways to read a call, the likelier first. `declared` are the tool's own properties."""
    args = envelope.get("args")
    if len(envelope) == 1 and isinstance(args, dict):
        yield Reading(args)
        if "args" in declared:
            yield _read(envelope, (), declared)
        return
    present = [name for name in WRAPPERS if name in envelope]
    certain = [name for name in present if name not in declared]
    likelier, other = certain, present
    if "args" in present and "args" not in certain:
        likelier, other = ["args", *certain], certain
    yield _read(envelope, likelier, declared)
    if likelier != other:
        yield _read(envelope, other, declared)


def unwrapped(arguments: JsonObject, declared: Collection[str]) -> Reading | None:
    """What a wrapper holds that is all there is in an arguments object; None when there is no such wrapper."""
    if len(arguments) != 1:
        return None
    [(name, value)] = arguments.items()
    inner = _as_object(value) if name in WRAPPERS and name not in declared else None
    return None if inner is None else Reading(inner, (f"the arguments taken out of `{name}`",))


def _read(envelope: JsonObject, wrappers: Collection[str], declared: Collection[str]) -> Reading:
    merged: JsonObject = {}
    repairs: list[str] = []
    beside: list[str] = []
    problems: list[Problem] = []
    for name, value in envelope.items():
        inner = _as_object(value) if name in wrappers else None
        if name == "args" and name in wrappers and value is None:
            inner = {}
        if inner is None and name == "args" and name in wrappers:
            problems.append(Problem("", "envelope", "`args` must be an object with the tool's own arguments."))
            continue
        if inner is None:
            key = _unprefixed(name, declared)
            inner = {key: value}
            beside.append(key)
        elif inner is not value or name != "args":
            repairs.append(f"`{name}` read as the arguments object")
        problems += [_clash(key) for key in inner if key in merged]
        merged.update(inner)
    if beside:
        repairs.append("the arguments beside `id` taken into the arguments object")
    return Reading(merged, tuple(repairs), frozenset(beside), tuple(problems))


def _as_object(value: object) -> JsonObject | None:
    """What a wrapper holds, when that is an object or the JSON text of one."""
    if isinstance(value, str):
        value = read_structure(value)
    return value if isinstance(value, dict) else None


def _unprefixed(name: str, declared: Collection[str]) -> str:
    """`args.path` beside `id` is `path`, where the tool has no property that is called so, or `args`."""
    prefix, _, rest = name.partition(".")
    return rest if rest and prefix in WRAPPERS and prefix not in declared and name not in declared else name


def _clash(key: str) -> Problem:
    message = f"{quoted(key)} was sent twice, in the arguments object and outside it; send it once, inside `args`."
    return Problem(pointer((key,)), "envelope", message)
