"""How the judgement of `toolfold eval` looks to a person. Cleans what in it is an upstream's text."""

from collections.abc import Sequence
from typing import Final

from server.clean import one_line
from server.cli.documents import inner, members, number, text, words
from server.cli.output import GAP, Output
from server.cli.rendering import ID_CHARACTERS, REASON_CHARACTERS
from upstream_clients import JsonObject

SHOWN: Final = 50
"""Of each list; `--json` has them all."""


def show(document: JsonObject, output: Output) -> None:
    """Recall, what is not found, what confuses, and the bill."""
    output.line(f"{_count(document, 'tools')} tools of {_count(document, 'upstreams')} upstreams", "bold cyan")
    if missing := words(document, "missing"):
        output.say(f"Nothing is known of the tools of {', '.join(missing)}.", "yellow")
    output.line()
    _recall(document, output)
    for key, title in (("by_descriptions", "by what they say of themselves"), ("by_queries", "by your queries")):
        _missed(f"Not found {title}", members(inner(document, key), "missed"), output)
    silent = [(one_line(tool, ID_CHARACTERS),) for tool in words(document, "silent")]
    _list("Say nothing beside their names, so no query was made of them", silent, output)
    likenesses = [
        (*words(one, "tools"), f"{number(one, 'shared') or 0.0:.0%} alike")
        for one in members(document, "near_duplicates")
    ]
    _list("Near-duplicates across upstreams", likenesses, output)
    collisions = inner(document, "collisions")
    _list("Names that several tools have", [(name, ", ".join(words(collisions, name))) for name in collisions], output)
    _bill(inner(document, "cost"), output)


def _recall(document: JsonObject, output: Output) -> None:
    hits = _count(document, "hits")
    rows = []
    for key, title in (
        ("by_descriptions", "each tool by its description, without its name"),
        ("by_queries", "your queries"),
    ):
        score = inner(document, key)
        if score:
            asked = int(number(score, "asked") or 0)
            found = asked - len(members(score, "missed"))
            rows.append((title, f"{number(score, 'recall') or 0.0:.1%}", f"{found} of {asked}"))
    output.records((f"found among the first {hits}", "", ""), rows)
    output.line()


def _missed(title: str, missed: list[JsonObject], output: Output) -> None:
    if not missed:
        return
    output.line(f"{title} ({len(missed)})", "bold")
    for one in missed[:SHOWN]:
        output.line(f"  {one_line(', '.join(words(one, 'wanted')), REASON_CHARACTERS)}")
        output.block(f"asked: {one_line(text(one, 'query'), REASON_CHARACTERS)}", 2 * GAP, "dim")
        output.block(f"found: {', '.join(words(one, 'found')[:3]) or 'nothing'}", 2 * GAP, "dim")
        if unknown := words(one, "unknown"):
            output.block(f"there is no tool {one_line(', '.join(unknown), REASON_CHARACTERS)}", 2 * GAP, "yellow")
    _rest(len(missed), output)


def _list(title: str, rows: Sequence[tuple[str, ...]], output: Output) -> None:
    if not rows:
        return
    output.line(f"{title} ({len(rows)})", "bold")
    for row in rows[:SHOWN]:
        output.block("  ".join(row), GAP)
    _rest(len(rows), output)


def _rest(count: int, output: Output) -> None:
    if count > SHOWN:
        output.line(f"  and {count - SHOWN} more: --json has them all", "dim")
    output.line()


def _bill(cost: JsonObject, output: Output) -> None:
    rows = [
        ("every tool, directly", *_price(inner(cost, "direct"))),
        ("what toolfold publishes instead", *_price(inner(cost, "folded"))),
    ]
    upstreams = inner(cost, "upstreams")
    rows += [(f"  {owner}", *_price(inner(upstreams, owner))) for owner in list(upstreams)[:SHOWN]]
    output.records(("what a model is shown before its first question", "bytes", "≈ tokens"), rows)


def _price(bill: JsonObject) -> tuple[str, str]:
    return f"{number(bill, 'bytes') or 0:,.0f}", f"{number(bill, 'tokens') or 0:,.0f}"


def _count(document: JsonObject, key: str) -> str:
    return f"{number(document, key) or 0:.0f}"
