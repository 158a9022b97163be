"""Asks for an input at a terminal. Only commands that a person runs use it; a gateway at work never does.

What is typed is stored only when the person agrees to it, and a secret is never shown while it is typed.
"""

import getpass
import sys
from collections.abc import Mapping

from server.config.findings import ConfigError, shown
from server.config.inputs import Ask, Input, inputs_file, store_input

# A number out of the list is told this often before the input counts as not answered.
MAX_ATTEMPTS = 3


def asking_a_person(environ: Mapping[str, str]) -> Ask:
    """Asks at the terminal, and whether to keep what was typed."""

    def ask(wanted: Input) -> str | None:
        answer = ask_on_terminal(wanted)
        if answer is not None and _agrees(f"  Keep it for the next time, in {inputs_file(environ)}? [y/N] "):
            try:
                store_input(environ, wanted.id, answer)
            except ConfigError as error:
                _say(f"  It is not kept: {error}")
        return answer

    return ask


def ask_hidden(what: str) -> str | None:
    """What is typed without being shown; None if it is nothing. The standard input must be a terminal."""
    try:
        return getpass.getpass(f"{what} (hidden): ", stream=sys.stderr) or None
    except EOFError:
        return None


def ask_on_terminal(wanted: Input) -> str | None:
    """The answer; None if nobody can be asked, or nothing is typed where the file offers nothing either."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    _say(f"{shown(wanted.description) or 'A value'} ({shown(wanted.id)})")
    if wanted.options:
        return _choose(wanted)
    try:
        if wanted.is_secret:
            return ask_hidden(" ")
        return _typed(wanted.default) or wanted.default or None
    except EOFError:
        return None


def _choose(wanted: Input) -> str | None:
    for number, option in enumerate(wanted.options, 1):
        _say(f"  {number}. {shown(option)}")
    for _ in range(MAX_ATTEMPTS):
        try:
            typed = _typed(wanted.default) or wanted.default
        except EOFError:
            return None
        if typed in wanted.options:
            return typed
        if typed.isdecimal() and 1 <= int(typed[:6]) <= len(wanted.options):
            return wanted.options[int(typed[:6]) - 1]
        _say("  Type one of them, or its number.")
    return None


def _agrees(question: str) -> bool:
    _say(question, end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _typed(default: str) -> str:
    _say(f"  [{shown(default)}] " if default else "  ", end="")
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()


def _say(text: str, end: str = "\n") -> None:
    sys.stderr.write(text + end)
    sys.stderr.flush()
