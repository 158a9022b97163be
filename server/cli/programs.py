"""Findings about the programs that entries start: whether they are there, for a shell and for a host from a menu.

Looks at the file system only; starts nothing. It knows the PATH that desktops give to what they start, and nothing of hosts.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from server.clean import one_line
from server.config import Finding, ServerEntry, Settings
from server.config.findings import shown
from server.hooks import is_callable_name

GUI_PATHS: Final[Mapping[str, str]] = {"darwin": "/usr/bin:/bin:/usr/sbin:/sbin"}
"""What launchd gives to an application that is started from the Dock."""

OTHER_GUI_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What systemd gives to a user's session, before any shell's start-up file has added to it."""

INSTALL: Final[Mapping[str, str]] = {
    **dict.fromkeys(("node", "npm", "npx"), "Install Node.js, which brings it"),
    **dict.fromkeys(("uv", "uvx"), "Install uv, which brings it"),
    **dict.fromkeys(("bun", "bunx"), "Install Bun, which brings it"),
    "docker": "Install Docker",
    "deno": "Install Deno",
    "pipx": "Install pipx",
}

PATH_CHARACTERS: Final = 300
"""Of a hook's path that are shown."""

FIRST_LINE_BYTES: Final = 256
"""The longest first line that Linux reads of a script."""

_THROUGH_ENV: Final = re.compile(rb"#!\s*/usr/bin/env\s+(?:-S\s+)?([\w.+-]+)")


def program_findings(
    servers: Iterable[ServerEntry], environ: Mapping[str, str], platform: str = sys.platform
) -> Iterator[Finding]:
    """One finding at most for each entry that is to be started."""
    shell_path = environ.get("PATH", os.defpath)
    gui_path = shell_path if platform == "win32" else GUI_PATHS.get(platform, OTHER_GUI_PATH)  # one PATH for all there
    for server in servers:
        if server.disabled or server.problem or server.remote or server.openclaw:
            continue
        where = server.where
        if os.path.dirname(server.command):
            found = _about_file(server, where)
        else:
            found = _about_name(server, where, shell_path, gui_path)
        if found is not None:
            yield found


def hook_findings(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """A hook that cannot be started blocks every call: that is told before the first one."""
    command = settings.gateway.hooks.before_call
    if not command or not command[0] or is_callable_name(command):
        return
    program = command[0]
    if shutil.which(program, path=settings.hook_env.get("PATH", environ.get("PATH", os.defpath))) is not None:
        return
    where, path = f"{settings.sources[-1]}: gateway.hooks.beforeCall", one_line(program, PATH_CHARACTERS)
    if os.path.dirname(program) and Path(program).is_file():
        message, fix = f"{path} may not be executed", f"Run: chmod +x {shlex.quote(program)}"
    else:
        message, fix = f"There is no program {path}", "Write its absolute path, and install it if need be."
    yield Finding("error", "hook_not_found", where, f"{message}; no tool is called.", fix)


def _about_file(server: ServerEntry, where: str) -> Finding | None:
    """A command with a folder in it: it is the one program that is started, wherever the host was started from."""
    command = shown(server.command)
    if server.command.startswith("~"):
        message = f"`{command}`: a `~` is not replaced by your home folder in `command`."
        return Finding("error", "command_not_found", where, message, "Write the whole path, or ${userHome}/….")
    path = Path(server.cwd or os.curdir, server.command)
    if not path.is_file():
        message = f"There is no program {command}."
        return Finding("error", "command_not_found", where, message, "Correct the path, or install the program.")
    if not os.access(path, os.X_OK):
        fix = f"Run: chmod +x {shlex.quote(str(path))}"
        return Finding("error", "command_not_executable", where, f"{command} may not be executed.", fix)
    if not path.is_absolute():
        message = f"{command} is looked for in the folder that a host starts toolfold in."
        return Finding("warning", "relative_command", where, message, f'Write "command": "{path.resolve()}".')
    return None


def _about_name(server: ServerEntry, where: str, shell_path: str, gui_path: str) -> Finding | None:
    """A bare name is looked for on the PATH that the child gets: ours, unless its entry has one of its own."""
    own_path = server.env.get("PATH", os.defpath)
    found = shutil.which(server.command, path=own_path)
    name = shown(server.command)
    if found is None:
        advice = INSTALL.get(server.command, "Install it, correct the name")
        message = f"The command `{name}` is not found on the PATH."
        return Finding("error", "command_not_found", where, message, f"{advice}, or write its absolute path.")
    if own_path != shell_path or shutil.which(server.command, path=gui_path) is not None:
        return None
    message = (
        f"`{name}` is {found}, which your shell finds. A host that is started from a menu may have no more than "
        f"PATH={gui_path}, and does not."
    )
    return Finding("warning", "path_of_the_shell", where, message, _whole_path(Path(found), shell_path, gui_path))


def _whole_path(program: Path, shell_path: str, gui_path: str) -> str:
    """The absolute path; and a PATH as well for a script whose interpreter would not be found either (npx: node)."""
    fix = f'Write "command": "{program}"'
    interpreter = _interpreter(program)
    if interpreter is None or shutil.which(interpreter, path=gui_path) is not None:
        return f"{fix}."
    beside = shutil.which(interpreter, path=shell_path)
    folders = dict.fromkeys([str(program.parent), *([str(Path(beside).parent)] if beside else [])])
    path = os.pathsep.join([*folders, gui_path])
    return f'{fix} and, because it runs `{interpreter}`, "env": {{"PATH": "{path}"}}.'


def _interpreter(program: Path) -> str | None:
    """The program that a script asks `env` for."""
    try:
        with program.open("rb") as file:
            first = _THROUGH_ENV.match(file.read(FIRST_LINE_BYTES))
    except OSError:
        return None
    return first[1].decode() if first else None
