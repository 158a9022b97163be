"""Findings about packages: those that an entry downloads without saying which version, and those that are in our way."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import PurePath
from typing import Final

from server.config import Finding, ServerEntry, Settings
from server.config.findings import shown
from server.wordllama import INSTALL, is_installed

OUR_DISTRIBUTION: Final = "toolfold"
OUR_PACKAGES: Final = ("server", "upstream_clients", "index")


@dataclass(frozen=True, slots=True)
class _Runner:
    """How a command that downloads and runs a package is told which one."""

    naming: frozenset[str]  # options whose value is the package
    with_value: frozenset[str]  # options whose value is something else
    pinned: re.Pattern[str]
    newest: str  # the command that prints the newest version


_NPM_PINNED: Final = re.compile(r"@?[^@]+@v?\d+\.\d+\.\d+\S*")
_PYPI_PINNED: Final = re.compile(r"[^@=<>~!]+(?:@|===?)\s*v?\d+[\w.!+]*")
_NPX: Final = _Runner(
    frozenset(("-p", "--package")), frozenset(("-w", "--workspace", "--registry", "--cache", "--userconfig", "--prefix")),
    _NPM_PINNED, "npm view {} version",
)  # fmt: skip
_UVX: Final = _Runner(
    frozenset(("--from",)),
    frozenset((
        "--with", "-w", "--with-editable", "--with-requirements", "--python", "-p", "--index", "--default-index", "-i",
        "--index-url", "--extra-index-url", "--find-links", "-f", "--constraints", "-c", "--overrides", "--env-file",
        "--exclude-newer", "--prerelease", "--resolution", "--cache-dir", "--directory", "--project", "--config-file",
    )),
    _PYPI_PINNED, "uvx pip index versions {}",
)  # fmt: skip
RUNNERS: Final[Mapping[str, _Runner]] = {"npx": _NPX, "bunx": _NPX, "uvx": _UVX}

_FROM_ELSEWHERE: Final = re.compile(r"[./~\\]|[A-Za-z]:\\|[A-Za-z][A-Za-z0-9+.-]*:|.*://|[^@/]+/[^@/]+$")
"""A folder, an address or a GitHub short form: none has a version that could be written behind it."""


def unpinned_findings(servers: Iterable[ServerEntry]) -> Iterator[Finding]:
    """Each entry in use that runs whatever version of a package is the newest on the day."""
    for server in servers:
        runner = RUNNERS.get(PurePath(server.command).stem)
        package = None if server.disabled or runner is None else _package(runner, server.args)
        if runner is None or package is None or runner.pinned.fullmatch(package) or _FROM_ELSEWHERE.match(package):
            continue
        name = shown(re.split(r"(?<!^)@|[\[=<>~!; ]", package, maxsplit=1)[0])
        message = f"`{shown(package)}` has no version: each start may run another program than the last one."
        fix = f'Write "{name}@VERSION" in `args`. The newest VERSION: {runner.newest.format(name)}'
        yield Finding("warning", "unpinned_package", server.where, message, fix)


def foreign_package_findings() -> Iterator[Finding]:
    """Other distributions that have put a package of one of our names into our environment."""
    owners = metadata.packages_distributions()
    for package in OUR_PACKAGES:
        for other in sorted(set(owners.get(package, ())) - {OUR_DISTRIBUTION}):
            message = (
                f"The distribution `{other}` has a package `{package}` too: one may have overwritten the other's files."
            )
            fix = "Give toolfold an environment of its own: uv tool install toolfold (or: pipx install toolfold)"
            yield Finding("error", "foreign_package", sys.prefix, message, fix)


def semantic_findings(settings: Settings) -> Iterator[Finding]:
    """Search is to go by meaning, and the model that it needs is not installed."""
    if settings.gateway.semantic and not is_installed():
        where = f"{settings.sources[0]}: gateway.semantic" if settings.sources else "gateway.semantic"
        message = "Search is to go by meaning too, and the model for it is not installed: it goes by words alone."
        yield Finding("warning", "no_model", where, message, f"Install it: {INSTALL}")


def _package(runner: _Runner, args: Sequence[str]) -> str | None:
    """The package that is downloaded; None if the arguments name none."""
    rest = list(args)
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in runner.naming:
            return value if equals else next(iter(rest), None)
        if word in runner.with_value:
            rest[:1] = []
        elif not word.startswith("-"):
            return word
    return None
