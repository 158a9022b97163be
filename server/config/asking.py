"""Asks for an input at a terminal. Only commands that a person runs use it; a gateway at work never does."""

import getpass
import sys

from server.config.findings import shown
from server.config.inputs import Input

# A number out of the list is told this often before the input counts as not answered.
MAX_ATTEMPTS = 3


def ask_on_terminal(wanted: Input) -> str | None:
    """The answer; None if nobody can be asked, or nothing is typed where the file offers nothing either."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    _say(f"{shown(wanted.description) or 'A value'} ({shown(wanted.id)})")
    if wanted.options:
        return _choose(wanted)
    try:
        if wanted.is_secret:
            return getpass.getpass("  (hidden) ", stream=sys.stderr) or None
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


def _typed(default: str) -> str:
    _say(f"  [{shown(default)}] " if default else "  ", end="")
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()


def _say(text: str, end: str = "\n") -> None:
    sys.stderr.write(text + end)
    sys.stderr.flush()
