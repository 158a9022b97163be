"""A user's queries with the tools that answer them, read from lines of text. Pure: whose text it is, the caller knows.

A line is either a query, a tab and the tools that answer it, divided by "|", or a JSON object
`{"query": …, "tools": […]}`. A tool is written by its id or its bare name; one of them is enough. Empty lines and lines
that begin with "#" say nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from index.query import MAX_QUERY_CHARS

MAX_FAULTS = 5  # of a file, that are said at once
_TSV_FORM = "a query, a tab and the tools that answer it, divided by '|'"
_JSON_FORM = '{"query": "…", "tools": ["…"]}'


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the tools that answer it, by id or bare name; one of them is enough."""

    query: str
    wanted: tuple[str, ...]


class BadQuestions(ValueError):
    """Says which lines are no questions, by their numbers, and what a question looks like."""


def read_questions(text: str) -> list[Question]:
    """The questions of a file.

    Raises:
        BadQuestions: a line is no question.
    """
    questions, faults = [], []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):  # as editors count them
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            questions.append(_of_json(line) if line.lstrip().startswith("{") else _of_columns(line))
        except _Fault as fault:
            faults.append(f"line {number} {fault}")
    if faults:
        more = f"; and {len(faults) - MAX_FAULTS} lines more" if len(faults) > MAX_FAULTS else ""
        raise BadQuestions("; ".join(faults[:MAX_FAULTS]) + more)
    return questions


class _Fault(Exception):
    """What is wrong with one line."""


def _of_columns(line: str) -> Question:
    query, tab, tools = line.partition("\t")
    if not tab:
        raise _Fault(f"has no tab: write {_TSV_FORM}")
    return _question(query, tools.split("|"), _TSV_FORM)


def _of_json(line: str) -> Question:
    try:
        document = json.loads(line)
    except json.JSONDecodeError as error:
        raise _Fault(f"is not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise _Fault("is not JSON: a number or the nesting is beyond all bounds") from None
    if not isinstance(document, Mapping) or set(document) != {"query", "tools"}:
        raise _Fault(f"is not of the form {_JSON_FORM}")
    query, tools = document["query"], document["tools"]
    if isinstance(tools, str):
        tools = [tools]
    if not isinstance(query, str) or not isinstance(tools, list) or not all(isinstance(one, str) for one in tools):
        raise _Fault(f"is not of the form {_JSON_FORM}")
    return _question(query, tools, _JSON_FORM)


def _question(query: str, tools: list[str], form: str) -> Question:
    wanted = tuple(dict.fromkeys(one.strip() for one in tools if one.strip()))
    if not query.strip():
        raise _Fault(f"has no query: write {form}")
    if not wanted:
        raise _Fault(f"names no tool: write {form}")
    if len(query) > MAX_QUERY_CHARS:
        raise _Fault(f"has a query of over {MAX_QUERY_CHARS} characters")
    return Question(query.strip(), wanted)
