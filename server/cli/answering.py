"""`toolfold config input`: stored answers to `${input:ID}`, by id, for every file that asks for it.

A value is never an argument, because every user of a machine sees arguments, and none is ever printed.
"""

import difflib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final, TypeAlias

import typer

from server.clean import one_line
from server.cli.exits import ExitCode, Failure
from server.cli.options import AsJson
from server.cli.output import reporting
from server.cli.rendering import ID_CHARACTERS
from server.config import ConfigError, Input, forget_input, inputs_file, read_environment, store_input, stored_inputs
from server.config.asking import ask_hidden
from server.errors import GatewayError

LONGEST_VALUE: Final = 256 * 1024
"""Bytes that are read of a value: a key file fits."""

InputId: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="The id, as in ${input:ID}.")]


def set_input(key: InputId) -> None:
    """Store the answer to an input, in a file that only you can read.

    At a terminal it is typed without being shown; otherwise it is read from standard input. The environment variable
    TOOLFOLD_INPUT_<ID> counts before it.
    """
    with reporting(as_json=False) as output, _configuration_errors():
        environ = read_environment()
        value = ask_hidden(f"Answer to {one_line(key, ID_CHARACTERS)}") if sys.stdin.isatty() else _read()
        if not key or not value:
            raise Failure(ExitCode.USAGE, GatewayError("usage", "Nothing is stored: the id or the value is empty."))
        store_input(environ, key, value)
        output.say(f"Stored in {inputs_file(environ)}.")
        if Input(key).variable in environ:
            output.say(f"{Input(key).variable} is set here, and counts before it.", "yellow")


def list_inputs(as_json: AsJson = False) -> None:
    """List the inputs that have a stored answer, by id. No answer is printed.

    `toolfold check` says which inputs of a configuration have none.
    """
    with reporting(as_json=as_json) as output, _configuration_errors():
        environ = read_environment()
        stored = sorted(stored_inputs(environ))
        if as_json:
            output.json({"file": str(inputs_file(environ)), "inputs": stored})
            return
        for key in stored:
            output.line(one_line(key, ID_CHARACTERS))
        if not stored:
            output.say(f"Nothing is stored in {inputs_file(environ)}.")


def forget(key: InputId) -> None:
    """Remove the stored answer to an input."""
    with reporting(as_json=False) as output, _configuration_errors():
        environ = read_environment()
        if not forget_input(environ, key):
            close = tuple(difflib.get_close_matches(key[:100], stored_inputs(environ), n=3))
            hint = (
                f"Did you mean {one_line(close[0], ID_CHARACTERS)}?" if close else "See `toolfold config input list`."
            )
            message = f"There is no stored answer to {one_line(key, ID_CHARACTERS)!r}."
            raise Failure(ExitCode.UNKNOWN_ID, GatewayError("unknown_input", message, hint), close)
        output.say("Forgotten.")


def _read() -> str:
    content = sys.stdin.buffer.read(LONGEST_VALUE + 1)
    if len(content) > LONGEST_VALUE:
        raise Failure(ExitCode.USAGE, GatewayError("usage", f"Standard input has more than {LONGEST_VALUE} bytes."))
    try:
        return content.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise Failure(ExitCode.USAGE, GatewayError("usage", "Standard input is not UTF-8.")) from None


@contextmanager
def _configuration_errors() -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise Failure(ExitCode.CONFIGURATION, error) from None
