"""`toolfold eval`: how well the tools of this configuration are found, what confuses, and what they cost in a prompt.

Judges with the gateway's own search and list. Fit for CI: `--min-recall` turns the judgement into an exit code, which is
a failure as well where an upstream is missing, for nothing is known of its tools.
"""

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import anyio.to_thread
import typer

from index import (
    HITS,
    BadQuestions,
    Evaluation,
    Exposure,
    Question,
    Score,
    Tool,
    approximate_tokens,
    evaluate,
    read_questions,
    shown_bytes,
)
from server.cli import evaluation
from server.cli.configured import answered
from server.cli.engine import Engine, has_failed, run, still_starting
from server.cli.exits import ExitCode, Failure
from server.cli.options import AsJson, ConfigFiles, Refresh, Wait, WaitSeconds
from server.cli.output import reporting
from server.errors import GatewayError
from upstream_clients import JsonObject

LONGEST_FILE: Final = 4 * 1024 * 1024
"""Bytes; some 50,000 questions, each of which takes a search."""


def evaluate_catalogue(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Your own queries, one a line: a query, a tab and the ids or names of the tools that answer it, divided "
            'by "|"; or {"query": "…", "tools": ["…"]}. Lines that begin with # are left out; `-` reads standard input.',
        ),
    ] = None,
    min_recall: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, show_default=False, metavar="PART",
            help="End with 1 if recall is below this part (0 to 1), by descriptions or by your queries, or if the tools "
            "of an upstream are not known.",
        ),
    ] = None,
    config: ConfigFiles = None,
    wait: WaitSeconds = None,
    refresh: Refresh = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Judge how well your tools are found: by their own descriptions, and by your queries.

    Each tool is looked for with what its description says beside the words of its name. Listed are
    the tools that are not among the first five hits, near-duplicates across upstreams, names that
    several tools have, and what all cost in a prompt, directly and through toolfold.
    """
    with reporting(as_json=as_json, config=config) as output:
        questions = _questions(file)
        work = partial(_evaluate, questions=questions, wait=Wait(wait, refresh))
        document, judged, missing = run(answered(config or []), output, work)
        failure = None if min_recall is None else missing or _too_low(judged, min_recall)
        if as_json:
            output.json(document, failure)
        else:
            evaluation.show(document, output)
        if failure is not None:
            raise failure


async def _evaluate(
    engine: Engine, questions: Sequence[Question], wait: Wait
) -> tuple[JsonObject, Evaluation, Failure | None]:
    await engine.bring_up(engine.startable() if wait.refresh else engine.unlisted(), wait)
    search = await engine.index()
    tools = [tool for tool in engine.tools() if tool.exposure in (Exposure.CATALOG, Exposure.DIRECT)]
    judged = await anyio.to_thread.run_sync(evaluate, tools, search, questions)
    document = _described(judged, tools) | {"cost": _cost(tools, engine.gateway.surface().tools, judged)}
    if not questions:
        del document["by_queries"]
    unlisted = [status for status in engine.statuses().values() if engine.is_unlisted(status.owner)]
    gone = sorted(status.owner for status in unlisted if has_failed(status))
    starting = sorted(status.owner for status in unlisted if not has_failed(status))
    if unlisted:
        document["missing"] = [*gone, *starting]
    return document, judged, _missing(gone, starting)


def _described(judged: Evaluation, tools: Sequence[Tool]) -> JsonObject:
    return {
        "tools": len(tools),
        "upstreams": len({tool.upstream for tool in tools}),
        "hits": HITS,
        "by_descriptions": _score(judged.by_description),
        "by_queries": _score(judged.by_questions),
        "silent": list(judged.silent),
        "near_duplicates": [
            {"tools": [one.first, one.second], "shared": round(one.shared, 2)} for one in judged.near_duplicates
        ],
        "collisions": {name: list(ids) for name, ids in judged.collisions.items()},
    }


def _score(score: Score) -> JsonObject:
    missed: list[JsonObject] = []
    for miss in score.misses:
        one: JsonObject = {"query": miss.query, "wanted": list(miss.wanted), "found": list(miss.found)}
        missed.append(one | ({"unknown": list(miss.unknown)} if miss.unknown else {}))
    return {"asked": score.asked, "recall": round(score.recall, 4), "missed": missed}


def _cost(tools: Iterable[Tool], published: Iterable[JsonObject], judged: Evaluation) -> JsonObject:
    """What a model is shown before its first question: every tool directly, and what toolfold publishes instead."""
    return {
        "direct": _bill(shown_bytes(tool.definition for tool in tools)),
        "folded": _bill(shown_bytes(published)),
        "upstreams": {owner: _bill(size) for owner, size in judged.shown_bytes.items()},
    }


def _bill(size: int) -> JsonObject:
    return {"bytes": size, "tokens": approximate_tokens(size)}


def _missing(gone: Sequence[str], starting: Sequence[str]) -> Failure | None:
    if gone:
        error = GatewayError(
            "upstream_down", f"Nothing is known of the tools of {', '.join(gone)}.", "See `toolfold check --probe`."
        )
        return Failure(ExitCode.FAILED, error)
    return still_starting("Not all tools are known", starting) if starting else None


def _too_low(judged: Evaluation, least: float) -> Failure | None:
    if judged.passes(least):
        return None
    scores = {"descriptions": judged.by_description, "your queries": judged.by_questions}
    said = [f"{score.recall:.3f} by {name}" for name, score in scores.items() if score.recall < least]
    hint = "Mend the descriptions of what is listed as missed, or ask for less with --min-recall."
    return Failure(
        ExitCode.FAILED, GatewayError("recall_too_low", f"Recall is {' and '.join(said)}, under {least:g}.", hint)
    )


def _questions(file: Path | None) -> list[Question]:
    """Raises Failure: the file cannot be read, or a line of it is no question."""
    if file is None:
        return []
    name = "Standard input" if str(file) == "-" else str(file)
    try:
        questions = read_questions(_read(file))
    except OSError as error:
        raise _unusable(f"{name} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _unusable(f"{name}, line {line}, is not UTF-8.") from None
    except BadQuestions as bad:
        raise _unusable(f"{name}: {bad}.") from None
    if not questions:
        raise _unusable(f"{name} has no query.")
    return questions


def _read(file: Path) -> str:
    if str(file) == "-":
        content = sys.stdin.buffer.read(LONGEST_FILE + 1)
    else:
        with file.open("rb") as stream:
            content = stream.read(LONGEST_FILE + 1)
    if len(content) > LONGEST_FILE:
        raise _unusable(f"{file} has more than {LONGEST_FILE} bytes.")
    return content.decode("utf-8")


def _unusable(message: str) -> Failure:
    return Failure(ExitCode.USAGE, GatewayError("bad_queries", message, "See `toolfold eval --help` for the format."))
