r"""How Windows finds a program and reads a command line, as plain functions: nothing here asks the system anything.

Windows gives a new process one string. Programs cut it up by the rules of the C runtime, which `subprocess` knows; but a
`.cmd` or `.bat` (`npx` is one) is read by cmd.exe, which acts upon `%`, quotes and line ends wherever they stand. There is
no quoting that always holds, so such arguments are refused and never sent.
"""

import errno
import ntpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

RUNNABLE: Final = (".com", ".exe", ".bat", ".cmd")
"""What can be started without asking the registry, in Windows' own order."""

SCRIPTS: Final = (".bat", ".cmd")

_ACTED_UPON: Final = {"%": "a percent sign", '"': "a double quote", "\r": "a line end", "\n": "a line end"}
_PLAIN: Final = re.compile(r"[A-Za-z0-9#$*+\-./:?@\\_]+")
_TRAILING_BACKSLASHES: Final = re.compile(r"\\+$")


@dataclass(frozen=True, slots=True)
class Command:
    """What `subprocess` is given: the program, and its arguments as a list or, for cmd.exe, as the line itself."""

    executable: str
    arguments: str | tuple[str, ...]

    def __repr__(self) -> str:  # never the arguments: they may hold secrets
        return f"<Command {self.executable!r}>"


def command_for(argv: Sequence[str], env: Mapping[str, str], cwd: str, is_file: Callable[[str], bool]) -> Command:
    """The command that starts `argv` with this environment.

    Raises:
        FileNotFoundError: there is no such program on the PATH of `env`.
        OSError: it is no program that Windows starts, or has an argument that cmd.exe would act upon.
    """
    program = find_program(argv[0], env, cwd, is_file)
    if not program.lower().endswith(SCRIPTS):
        return Command(program, (program, *argv[1:]))
    root = value_of(env, "SYSTEMROOT") or r"C:\Windows"
    line = " ".join([_quoted(program, always=True), *(_quoted(text, always=False) for text in argv[1:])])
    # /d: no AutoRun; /s: takes off the outer quotes, whatever is inside; /v:off: `!` is a letter like any other.
    return Command(ntpath.join(root, "System32", "cmd.exe"), f'cmd.exe /d /s /v:off /c "{line}"')


def find_program(command: str, env: Mapping[str, str], cwd: str, is_file: Callable[[str], bool]) -> str:
    """The file that `command` stands for. The working folder is not searched for bare names: anyone may have put it there.

    Raises: as `command_for`.
    """
    has_folder = bool(ntpath.dirname(command) or ntpath.splitdrive(command)[0])
    folders = [cwd] if has_folder else [part.strip('"') for part in value_of(env, "PATH").split(";")]
    for folder in filter(None, folders):
        for name in _file_names(command, value_of(env, "PATHEXT")):
            path = ntpath.normpath(ntpath.join(folder, name))
            if is_file(path):
                return path
    if has_folder and is_file(ntpath.join(cwd, command)):
        what = (
            "Windows does not start files of this kind; name the program that runs it, and give the file as an argument"
        )
        raise OSError(errno.ENOEXEC, what)
    raise FileNotFoundError(errno.ENOENT, "no such program", command)


def value_of(env: Mapping[str, str], name: str) -> str:
    """A variable, however its name is written. Of several spellings the last counts; "" if there is none."""
    return next((value for key, value in reversed(list(env.items())) if key.upper() == name), "")


def without_twins(env: Mapping[str, str]) -> dict[str, str]:
    """The environment with each name once: Windows does not tell `Path` from `PATH`. The last one counts."""
    names = {key.upper(): key for key in env}
    return {key: env[key] for key in names.values()}


def _file_names(command: str, path_extensions: str) -> Iterable[str]:
    """A bare `npx` beside `npx.cmd` is a script for another system, so a name without an extension is never taken."""
    if command.lower().endswith(RUNNABLE):
        yield command
    wanted = [part.strip().lower() for part in path_extensions.split(";")]
    for extension in [part for part in wanted if part in RUNNABLE] or RUNNABLE:
        yield command + extension


def _quoted(text: str, *, always: bool) -> str:
    """In double quotes, where `& | < > ( ) ^` mean nothing to cmd.exe. Raises OSError for what has a meaning even there."""
    acted_upon = next((name for letter, name in _ACTED_UPON.items() if letter in text), None)
    if acted_upon is not None:
        what = (
            f"an argument holds {acted_upon}, which cmd.exe would act upon; name the program that the .cmd or .bat runs"
        )
        raise OSError(errno.EINVAL, f"{what} (for npx: node and the path of its script), which takes any argument")
    if not always and _PLAIN.fullmatch(text):
        return text
    # What a script hands on to a program is cut up again, and a backslash before a quote would take its meaning.
    return '"' + _TRAILING_BACKSLASHES.sub(lambda found: found[0] * 2, text) + '"'
