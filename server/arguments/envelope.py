"""The forms in which a model hands over a tool's arguments: in `args`, in a wrapper of another name, or side by side.

1. A reading drops nothing: each key that was sent is a wrapper, or stands in the arguments, or is named in a problem.
2. A wrapper's name is the tool's own property where its schema has one; then there are two readings, and the caller
   takes the first that fits.
3. Nothing here knows a schema beyond the names of its properties.
4. What is undeclared and has the form of a wrapper is one, also where the schema would let it pass: a tool that
   never named it would not look at it.
"""

from collections.abc import Callable, Collection, Iterator
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


def taken_out(
    arguments: JsonObject, own_names: Collection[str], is_placed: Callable[[str], bool]
) -> tuple[JsonObject, str] | None:
    """The arguments without a wrapper among them that the tool can't know, and what to tell; None without one.

    `own_names` are the tool's id and name, which stand in a whole envelope that was put into `args`; `is_placed` says
    whether a key stands where the schema has a place for it.
    """
    strangers = [key for key in arguments if not is_placed(key)]
    wrappers = [key for key in strangers if key in WRAPPERS]
    if len(wrappers) != 1:
        return None
    [wrapper] = wrappers
    inner = _as_object(arguments[wrapper])
    if inner is None or not all(map(is_placed, inner)):
        return None
    rest = {key: value for key, value in arguments.items() if key != wrapper}
    if len(rest) == 1 and _is_own_name(next(iter(rest.items())), own_names, is_placed):
        return inner, "the arguments taken out of a second envelope"
    if len(strangers) != 1 or (rest and not inner) or rest.keys() & inner.keys():
        return None
    return {**rest, **inner}, f"the arguments taken out of `{wrapper}`"


def _is_own_name(item: tuple[str, object], own_names: Collection[str], is_placed: Callable[[str], bool]) -> bool:
    """Whether this says which tool is called. A tool may have an `id` itself, but not one with a tool id's colons."""
    key, value = item
    if key not in ("id", "name") or not isinstance(value, str) or value not in own_names:
        return False
    return ":" in value or not is_placed(key)


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
