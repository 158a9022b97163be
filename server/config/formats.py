"""Which format a configuration file is written in, by its suffix or else by its first line, and the reading of it.

A suffix that is known decides alone: a slip in a `.json` file is told as a slip in JSON, whatever else it looks like.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from server.config.text import MAX_JSON5_CHARS, BadText, Pairs, Parsed, parse, parsed_by

Format: TypeAlias = Literal["json", "toml", "yaml"]

_BY_SUFFIX: Mapping[str, Format] = {
    ".json": "json",
    ".jsonc": "json",
    ".json5": "json",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
}

# What the first line that says something looks like. The order matters: `[a]` is a table of TOML and a list of JSON.
_BY_FIRST_LINE: tuple[tuple[re.Pattern[str], Format], ...] = (
    (re.compile(r"\{|//|/\*"), "json"),
    (re.compile(r"\[{1,2}\s*[A-Za-z_'\"][\w.'\"-]*\s*\]{1,2}\s*(#.*)?$|[\w.'\"-]+\s*="), "toml"),
    (re.compile(r"\["), "json"),
    (re.compile(r"---|%YAML|- |[^\s:]+:(\s|$)"), "yaml"),
)

_TOML_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)\Z")


def parse_file(text: str, suffix: str) -> Parsed:
    """Raises: BadText."""
    return _READERS[format_of(text, suffix)](text)


def format_of(text: str, suffix: str) -> Format:
    known = _BY_SUFFIX.get(suffix.lower())
    if known is not None:
        return known
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return next((format_ for shape, format_ in _BY_FIRST_LINE if shape.match(first)), "json")


def _parse_toml(text: str) -> Parsed:
    _refuse_long(text, "TOML")
    return parsed_by(_read_toml, text)


def _parse_yaml(text: str) -> Parsed:
    _refuse_long(text, "YAML")
    from server.config.yaml_text import read_yaml

    return parsed_by(read_yaml, text)


def _read_toml(text: str, _pairs: Pairs) -> object:
    import tomllib

    try:
        return tomllib.loads(text)  # a key given twice is an error here, so there are no pairs to tell of
    except ValueError as error:
        place = _TOML_PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (0, 0)
        raise BadText("this is not TOML", "Look for a missing quote, bracket or `=` here.", line, column) from None


def _refuse_long(text: str, name: str) -> None:
    if len(text) > MAX_JSON5_CHARS:
        raise BadText(f"the file is too long for {name}", f"{name} is read up to {MAX_JSON5_CHARS} characters.")


_READERS: Mapping[Format, Callable[[str], Parsed]] = {"json": parse, "toml": _parse_toml, "yaml": _parse_yaml}
