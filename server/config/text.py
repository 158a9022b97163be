"""JSON text becomes plain values: strict JSON, else JSON with comments, else JSON5; and what holds for every format.

Laws:
1. A position that is reported is a position in the file as it was written.
2. No text of the file goes into an error: it may be a secret.
3. What comes out is no deeper than `MAX_DEPTH`; a key given twice is reported, and its last value counts, as everywhere.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from server.config.findings import shown

# A configuration is five levels deep; the JSON5 parser gives up near 45, so the limit is the same whichever reads it.
MAX_DEPTH = 32

# The JSON5 parser is written in Python and reads about 64 KiB a second: this is the most that a start may wait for it.
# JSON with comments or trailing commas does not need it. The readers of TOML and YAML are bounded by the same.
MAX_JSON5_CHARS = 256 * 1024

# Each alternative takes all that it starts with, closed or not, so that scanning stays linear on any text.
_STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_NOT_NEWLINE = re.compile(r"[^\n]")
_JSON5_POSITION = re.compile(r":(\d+) (Unexpected end)?.* at column (\d+)\Z", re.DOTALL)


class BadText(Exception):
    """The text is not a configuration. `line` and `column` count from 1; 0 means that no place can be named."""

    def __init__(self, what: str, fix: str, line: int = 0, column: int = 0) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Parsed:
    value: object = field(repr=False)
    duplicates: tuple[str, ...]  # dotted paths of keys that stand twice in one object


class Pairs:
    """Builds each object and remembers which had a key twice; where they are is known only once the tree stands."""

    def __init__(self) -> None:
        self.repeated: list[tuple[dict[str, object], list[str]]] = []

    def __call__(self, found: Iterable[tuple[str, object]]) -> dict[str, object]:
        pairs = list(found)
        built = dict(pairs)
        if len(built) != len(pairs):
            times = Counter(name for name, _ in pairs)
            self.repeated.append((built, [name for name in built if times[name] > 1]))
        return built


def parse(text: str) -> Parsed:
    """Raises: BadText."""
    return parsed_by(_parse_any, text)


def parsed_by(read: Callable[[str, Pairs], object], text: str) -> Parsed:
    """What `read` makes of `text`, held to the laws. Raises: BadText."""
    if not text.strip():
        raise BadText("the file is empty", 'Write at least {"mcpServers": {}}.')
    pairs = Pairs()
    try:
        value = read(text, pairs)
    except RecursionError:
        raise _too_deep() from None
    paths = _walk(value)
    duplicates = [
        f"{paths[id(built)]}.{shown(name)}".removeprefix(".")
        for built, names in pairs.repeated
        if id(built) in paths  # else a later duplicate has replaced the whole object
        for name in names
    ]
    return Parsed(value, tuple(duplicates))


def _parse_any(text: str, pairs: Pairs) -> object:
    try:
        return _parse_json(text, pairs)
    except json.JSONDecodeError:
        pairs.repeated.clear()
    try:
        return _parse_json(_without_comments(text), pairs)
    except json.JSONDecodeError as error:
        pairs.repeated.clear()
        line, column = error.lineno, error.colno
    if len(text) > MAX_JSON5_CHARS:
        fix = f"JSON5 is read up to {MAX_JSON5_CHARS} characters."
        raise BadText("this is not JSON with comments", fix, line, column)
    return _parse_json5(text, pairs)


def _parse_json(text: str, pairs: Pairs) -> object:
    try:
        value: object = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError:
        raise
    except ValueError:  # what Python says of a whole number of thousands of digits
        raise BadText("a number in it has too many digits", "Write a smaller number.") from None
    return value


def _parse_json5(text: str, pairs: Pairs) -> object:
    import json5

    try:
        value: object = json5.loads(text, object_pairs_hook=pairs)
    except ValueError as error:
        place = _JSON5_POSITION.search(str(error))
        if place is None:
            raise BadText("this is not JSON or JSON5", "Check the file with a JSON5 checker.") from None
        if place[2]:
            what, fix = "the file ends too early", "Close what is still open: a string, a bracket or a brace."
        else:
            what, fix = "this is not JSON or JSON5", "Look for a missing comma, quote or bracket here or just before."
        raise BadText(what, fix, int(place[1]), int(place[3])) from None
    return value


def _without_comments(text: str) -> str:
    """Comments and trailing commas become spaces, so that every other character keeps its place."""
    return _STRING_OR_LAST_COMMA.sub(_blank, _STRING_OR_COMMENT.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else _NOT_NEWLINE.sub(" ", match[0])


def _walk(value: object) -> dict[int, str]:
    """The dotted path of every object, by identity; refuses a tree that is too deep."""
    paths: dict[int, str] = {}
    waiting: list[tuple[object, str, int]] = [(value, "", 1)]
    while waiting:
        node, path, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise _too_deep()
        if isinstance(node, dict):
            paths[id(node)] = path
        waiting += [(child, name, depth + 1) for child, name in _children(node, path)]
    return paths


def _children(node: object, path: str) -> Iterable[tuple[object, str]]:
    """The objects and lists directly inside `node`, each with its dotted path."""
    if isinstance(node, dict):
        named = ((child, f"{path}.{shown(name)}" if path else shown(name)) for name, child in node.items())
    elif isinstance(node, list):
        named = ((child, f"{path}[{position}]") for position, child in enumerate(node))
    else:
        return ()
    return ((child, name) for child, name in named if isinstance(child, dict | list))


def _too_deep() -> BadText:
    return BadText(f"it is nested deeper than {MAX_DEPTH} levels", "A configuration needs five: check the brackets.")
