"""The checks that start nothing: programs on two PATHs, and packages without a version."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from server.cli.packages import unpinned_findings
from server.cli.programs import GUI_PATHS, program_findings
from server.config import Finding, Settings, load
from tests.support.upstreams import write_config


@pytest.fixture
def shell_path(tmp_path: Path) -> str:
    """A PATH as a shell has it, with a script that needs another program and a program that needs none."""
    folder = tmp_path / "shell" / "bin"
    folder.mkdir(parents=True)
    for name, first_line in {"npx-here": "#!/usr/bin/env node-here", "node-here": "#!/bin/sh"}.items():
        (folder / name).write_text(f"{first_line}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    (folder / "data.txt").touch()
    return f"{folder}{os.pathsep}/usr/bin:/bin"


def loaded(folder: Path, entry: Mapping[str, object], path: str = os.defpath) -> Settings:
    return load([write_config(folder, {"it": entry})], {"PATH": path, "HOME": str(folder)}, folder)


def about_program(folder: Path, entry: Mapping[str, object], path: str, platform: str = "darwin") -> Finding | None:
    settings = loaded(folder, entry, path)
    found = list(program_findings(settings.servers, {"PATH": path}, platform=platform))
    assert all(finding.where == f"{folder}/mcp.json: mcpServers.it" for finding in found)
    return found[0] if found else None


def test_a_command_that_only_a_shell_finds_is_named_with_its_absolute_path(tmp_path: Path, shell_path: str) -> None:
    found = about_program(tmp_path, {"command": "node-here"}, shell_path)
    assert found is not None
    assert (found.severity, found.code) == ("warning", "path_of_the_shell")
    assert found.fix == f'Write "command": "{tmp_path}/shell/bin/node-here".'


def test_on_windows_a_host_from_a_menu_has_the_path_of_a_shell(tmp_path: Path, shell_path: str) -> None:
    assert about_program(tmp_path, {"command": "node-here"}, shell_path, platform="win32") is None


def test_a_script_that_runs_another_program_is_given_a_path_too(tmp_path: Path, shell_path: str) -> None:
    found = about_program(tmp_path, {"command": "npx-here"}, shell_path)
    assert found is not None
    folder = f"{tmp_path}/shell/bin"
    assert found.fix == (
        f'Write "command": "{folder}/npx-here" and, because it runs `node-here`, '
        f'"env": {{"PATH": "{folder}:{GUI_PATHS["darwin"]}"}}.'
    )


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"command": "sh"}, None),
        ({"command": "/bin/sh"}, None),
        ({"command": "node-here", "env": {"PATH": "shell/bin"}}, None),  # its own PATH, whoever starts the host
        ({"command": "nowhere-to-be-found"}, "command_not_found"),
        ({"command": "nowhere-to-be-found", "disabled": True}, None),
        ({"command": "${UNSET}"}, None),  # is a finding of the configuration
        ({"command": "/nowhere/sh"}, "command_not_found"),
        ({"command": "~/bin/sh"}, "command_not_found"),
        ({"command": "shell/bin/data.txt"}, "command_not_executable"),
        ({"command": "shell/bin/node-here"}, "relative_command"),
        ({"command": "bin/node-here", "cwd": "shell"}, None),
    ],
)
def test_each_command_gets_the_finding_that_is_due(
    tmp_path: Path, shell_path: str, monkeypatch: pytest.MonkeyPatch, entry: dict[str, object], code: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    found = about_program(tmp_path, entry, shell_path)
    assert (found.code if found else None) == code


@pytest.mark.parametrize(
    ("command", "args", "name"),
    [
        ("npx", "-y @scope/server", "@scope/server"),
        ("npx", "-y @scope/server@latest /tmp", "@scope/server"),
        ("npx", "--yes server@^1.2.3", "server"),
        ("npx", "-y --package=server@1 run", "server"),
        ("/opt/bin/npx", "-p server run", "server"),
        ("bunx", "server", "server"),
        ("uvx", "mcp-server-time --local-timezone Etc/UTC", "mcp-server-time"),
        ("uvx", "--with mcp<2 mcp-server-sqlite", "mcp-server-sqlite"),
        ("uvx", "--python 3.12 --from mcp-thing[cli]>=1 thing", "mcp-thing"),
        ("uvx", "mcp-server-time@latest", "mcp-server-time"),
    ],
)
def test_a_package_without_an_exact_version_is_named(tmp_path: Path, command: str, args: str, name: str) -> None:
    settings = loaded(tmp_path, {"command": command, "args": args.split()})
    (found,) = unpinned_findings(settings.servers)
    assert (found.severity, found.code) == ("warning", "unpinned_package")
    assert found.fix.startswith(f'Write "{name}@VERSION" in `args`.')


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("npx", "-y @scope/server@2026.8.31 /tmp"),
        ("npx", "-y server@1.2.3-beta.1"),
        ("npx", "./server"),
        ("npx", "github:someone/server"),
        ("npx", "--help"),
        ("uvx", "mcp-server-git@2026.10.19 --repository ."),
        ("uvx", "--from mcp-thing[cli]==1.2 thing"),
        ("uvx", "--from git+https://host/thing thing"),
        ("uvx", "/opt/thing.whl"),
        ("python", "-m thing"),
    ],
)
def test_a_package_with_a_version_or_from_elsewhere_is_not(tmp_path: Path, command: str, args: str) -> None:
    settings = loaded(tmp_path, {"command": command, "args": args.split()})
    assert list(unpinned_findings(settings.servers)) == []
