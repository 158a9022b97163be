"""`toolfold call`: runs one tool through the gateway's own call path, and prints what it answers."""

import sys
from functools import partial
from typing import Annotated

import typer

from server.calling import Call
from server.cli.configured import answered
from server.cli.documents import inner, members, text
from server.cli.engine import Engine, run
from server.cli.exits import ExitCode, Failure
from server.cli.options import AsJson, ConfigFiles, Wait, WaitSeconds
from server.cli.output import Output, reporting
from server.cli.progress import CallProgress
from server.cli.words import LONGEST_ARGUMENTS, BadWords, from_json, from_words
from server.errors import GatewayError
from server.keeper import upstream_in
from upstream_clients import JsonObject


def call(
    tool: Annotated[str, typer.Argument(metavar="ID", help="The tool's id, or its bare name if no other has it.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=TEXT|KEY:=JSON",
            show_default=False,
            help="The tool's arguments. A text is turned into the number or truth value that the tool wants.",
        ),
    ] = None,
    args: Annotated[
        str | None,
        typer.Option(
            "--args",
            metavar="JSON",
            show_default=False,
            help="All arguments as one JSON object, in place of words; `-` reads it from standard input.",
        ),
    ] = None,
    config: ConfigFiles = None,
    wait: WaitSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Run one tool and print its text; nothing else is started.

    `--json` prints the whole result. An error that the tool answers with is printed on standard error, and the exit code
    is 1.
    """
    with reporting(as_json=as_json, config=config) as output:
        arguments = _arguments(words or [], args)
        found = answered(config or [], upstream_in(tool))
        work = partial(_call, reference=tool, arguments=arguments, wait=Wait(wait), output=output)
        result = run(found, output, work)
        _print(result, output)
        if result.get("isError") is True:
            raise typer.Exit(ExitCode.FAILED)


async def _call(engine: Engine, reference: str, arguments: JsonObject, wait: Wait, output: Output) -> JsonObject:
    tool = await engine.find(reference, wait, live=True)
    progress = CallProgress(output.talk, tool.id)
    try:
        with progress.shown():
            return await engine.gateway.call(Call(tool.id, arguments, "direct", {}, progress.on_progress))
    except GatewayError as error:
        raise Failure(ExitCode.FAILED, error) from None


def _arguments(words: list[str], args: str | None) -> JsonObject:
    try:
        if args is None:
            return from_words(words)
        if words:
            raise BadWords("Give the arguments as words or with --args, not both.")
        return from_json(_read_standard_input() if args == "-" else args)
    except BadWords as bad:
        raise Failure(ExitCode.USAGE, GatewayError("usage", str(bad))) from None


def _read_standard_input() -> str:
    content = sys.stdin.buffer.read(LONGEST_ARGUMENTS + 1)
    if len(content) > LONGEST_ARGUMENTS:
        raise BadWords(f"Standard input has more than {LONGEST_ARGUMENTS} bytes.")
    return content.decode("utf-8", "replace")


def _print(result: JsonObject, output: Output) -> None:
    if output.as_json:
        output.json(result)
        return
    blocks = members(result, "content")
    texts = [found for block in blocks if (found := _text_of(block)) is not None]
    for found in texts:
        if result.get("isError") is True:
            output.say(found, "red")
        else:
            output.verbatim(found)
    if not texts and isinstance(result.get("structuredContent"), dict):
        output.json(inner(result, "structuredContent"))
    if others := [text(block, "type") or "unknown" for block in blocks if _text_of(block) is None]:
        output.say(f"Not shown: {', '.join(others)}. --json has them.", "dim")


def _text_of(block: JsonObject) -> str | None:
    """The text of a text block or of an embedded text resource; a link's address."""
    kind = block.get("type")
    if kind == "resource_link":
        return text(block, "uri")
    holder = inner(block, "resource") if kind == "resource" else block
    found = holder.get("text") if kind in ("text", "resource") else None
    return found if isinstance(found, str) else None
