"""How the answer of `toolfold search` looks to a person, with `--explain` why each hit was found."""

from typing import Final

from server.clean import one_line
from server.cli.documents import inner, members, number, text, words
from server.cli.output import GAP, Output
from server.cli.rendering import REASON_CHARACTERS
from upstream_clients import JsonObject

ORIGINS: Final = {
    "said": "as you said it",
    "synonym": "a synonym",
    "translation": "translated",
    "spelling": "corrected",
}
BONUSES: Final = {
    "as written": "words in the very form that you wrote",
    "side by side": "words side by side",
    "name": "the name covered",
    "server": "the server named",
    "meaning": "close in meaning",
}
"""What the rules of the ranking are called to a person."""

POLICIES: Final = {"ask": "(a person is asked before it is run)", "block": "(it is found, but not run)"}


def show(answer: JsonObject, output: Output) -> None:
    """`toolfold search`: the hits, and on standard error what could not be searched."""
    for hit in members(answer, "tools"):
        output.line(text(hit, "id"), "bold")
        if policy := text(hit, "policy"):
            output.block(POLICIES.get(policy, policy), GAP, "yellow")
        output.block(text(hit, "description") or text(hit, "label"), GAP)
        if text(hit, "input") not in ("", "unknown"):
            output.block(one_line(text(hit, "input"), REASON_CHARACTERS), GAP, "dim")
        if why := inner(hit, "explanation"):
            _explanation(text(hit, "confidence"), why, output)
    starting = words(answer, "starting")
    if starting:
        output.say(f"Still starting, and not searched: {', '.join(starting)}.", "yellow")
    for owner, reason in inner(answer, "unavailable").items():
        output.say(f"{owner} was not searched: {one_line(str(reason), REASON_CHARACTERS)}", "yellow")
    if not members(answer, "tools") and not starting:
        output.say(text(answer, "note"))


def _explanation(confidence: str, why: JsonObject, output: Output) -> None:
    """The score against the best that the query could have reached, and a table of what it is made of."""
    score, ceiling = number(why, "score") or 0.0, number(why, "ceiling") or 0.0
    bonuses = inner(why, "bonuses")
    by_words = score - (number(bonuses, "meaning") or 0.0)  # confidence does not go by meaning
    said = [f"{confidence}: {score:.2f}"]
    if ceiling:
        first = "your words: " if by_words == score else f"your words: {by_words:.2f}, "
        said.append(f"{first}{by_words / ceiling:.0%} of {ceiling:.2f}, the most that they can score without a bonus")
    if why.get("named"):
        said.append("you named it")
    output.block(" · ".join(said), GAP)
    rows = [
        (
            f"  {text(one, 'word')}",
            f"{number(one, 'score') or 0.0:.2f}",
            ORIGINS.get(text(one, "origin"), text(one, "origin")),
            f"{text(one, 'met_as')} in {_scores(inner(one, 'fields'))}",
        )
        for one in members(why, "words")
    ]
    rows += [("  +", f"{number(bonuses, name) or 0.0:.2f}", "a bonus", BONUSES.get(name, name)) for name in bonuses]
    if rows:
        output.records(("  word", "score", "met", "where"), [tuple(_cleaned(cell) for cell in row) for row in rows])
    if unmet := words(why, "unmet"):
        output.line(f"  not met: {one_line(', '.join(unmet), REASON_CHARACTERS)}", "dim")
    output.line()


def _scores(fields: JsonObject) -> str:
    return ", ".join(f"{name} {number(fields, name) or 0.0:.2f}" for name in fields)


def _cleaned(cell: str) -> str:
    """Cleaned, with its indent."""
    return cell[: len(cell) - len(cell.lstrip(" "))] + one_line(cell, REASON_CHARACTERS)
