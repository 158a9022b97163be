"""Tells an entry that would start toolfold itself, whichever launcher stands before it.

A host's whole file may be pasted here, and it names us: starting ourselves would never end. The launchers are a table;
an argument that merely contains our name (a folder, a package to read about) is no reason to skip an entry.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_OURSELVES = re.compile(r"(?:.*[/\\])?toolfold(?:\.exe)?(?:\[[^\]]*\])?(?:(?:@|==)[^/\\]*)?", re.IGNORECASE | re.DOTALL)
_OUR_MODULE = "server.cli"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)

# `env uv run python -m …` is four deep; deeper nesting is no command that anyone writes.
MAX_LAUNCHERS = 6


@dataclass(frozen=True, slots=True)
class _Launcher:
    """How to find, among a launcher's arguments, the command line that it runs."""

    subcommands: frozenset[str] = frozenset()
    with_value: frozenset[str] = frozenset()  # options whose value is the next argument
    with_module: frozenset[str] = frozenset()  # options followed by the Python module that is run
    with_script: re.Pattern[str] | None = None  # options followed by a shell line in one string
    takes_assignments: bool = False
    runs_text: str = ""  # the option after which code follows, and no command


_UV_OPTIONS = frozenset(
    (
        "--from", "--with", "-w", "--with-editable", "--with-requirements", "-c", "--constraints", "-b",
        "--build-constraints", "--overrides", "--env-file", "--python-platform", "--torch-backend", "--index",
        "--default-index", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index-strategy",
        "--keyring-provider", "-P", "--upgrade-package", "--resolution", "--prerelease", "--fork-strategy",
        "--exclude-newer", "--reinstall-package", "--link-mode", "-C", "--config-setting",
        "--no-build-package", "--no-binary-package", "--cache-dir", "--refresh-package", "-p", "--python",
        "--color", "--allow-insecure-host", "--directory", "--project", "--config-file", "--extra",
        "--no-extra", "--group", "--no-group", "--only-group", "--package",
    )
)  # fmt: skip
_MODULE = frozenset(("-m", "--module"))
_UV = _Launcher(frozenset(("tool", "run")), _UV_OPTIONS, _MODULE)
_PYTHON = _Launcher(with_value=frozenset(("-X", "-W")), with_module=_MODULE, runs_text="-c")
_SHELL = _Launcher(with_script=re.compile("-[a-z]*c"))
_LAUNCHERS: Mapping[str, _Launcher] = {
    "uv": _UV,
    "uvx": _Launcher(with_value=_UV_OPTIONS),
    "pipx": _Launcher(frozenset(("run",)), frozenset(("--spec", "--python", "--index-url", "-i", "--pip-args"))),
    "env": _Launcher(with_value=frozenset(("-u", "-C")), takes_assignments=True),
    "cmd": _Launcher(frozenset(("/c", "/C", "/d", "/s"))),
    "python": _PYTHON,
    "pythonw": _PYTHON,
    "py": _PYTHON,
    "sh": _SHELL,
    "bash": _SHELL,
    "zsh": _SHELL,
}


def starts_toolfold(argv: Sequence[str]) -> bool:
    """Whether this command line ends in toolfold."""
    rest = list(argv)
    for _ in range(MAX_LAUNCHERS):
        if not rest:
            return False
        if _OURSELVES.fullmatch(rest[0]):
            return True
        launcher = _LAUNCHERS.get(_program(rest[0]))
        if launcher is None:
            return False
        rest = _command_behind(launcher, rest[1:])
    return False


def _program(command: str) -> str:
    """The program's bare name: no folder, no `.exe`, no version (`python3.13`)."""
    base = re.split(r"[/\\]", command)[-1].lower().removesuffix(".exe")
    return re.sub(r"^(pythonw?)[0-9.]+$", r"\1", base)


def _command_behind(launcher: _Launcher, args: Sequence[str]) -> list[str]:
    """The command line that the launcher will run; nothing if that cannot be told."""
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word in launcher.with_module:
            return ["toolfold"] if rest[:1] == [_OUR_MODULE] else []
        if launcher.with_script and launcher.with_script.fullmatch(word):
            return _lasting_command(rest[0] if rest else "")
        if word == launcher.runs_text:
            return []
        if word in launcher.with_value:
            rest[:1] = []
        elif not _is_passed_over(word, launcher):
            return [word, *rest]
    return []


def _is_passed_over(word: str, launcher: _Launcher) -> bool:
    if launcher.takes_assignments and _ASSIGNMENT.fullmatch(word):
        return True
    return word in launcher.subcommands or word.startswith("-")


def _lasting_command(script: str) -> list[str]:
    """The last command of a shell line, which is the one that stays: `cd /srv && exec toolfold serve`."""
    last = re.split(r"&&|\|\||;|\n", script.rstrip("; \n"))[-1]
    try:
        words = shlex.split(last)
    except ValueError:
        words = last.split()
    while words and (words[0] == "exec" or _ASSIGNMENT.fullmatch(words[0])):
        words.pop(0)
    return words
