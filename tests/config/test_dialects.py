"""A file of every host, and the entries that come out of it: at the host's own path, and under any other name."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from server.config import Remote, ServerEntry, Settings, load

FILES = Path(__file__).parent / "dialects"

ENVIRON = MappingProxyType(
    {
        "HOME": "/home/ann",
        "NOTES_LANGUAGE": "de",
        "NOTES_THEME": "dark",
        "MAPS_TOKEN": "t0k",
        "MAPS_TEAM": "blue",
        "USER_NAME": "ann",
        "TOOLFOLD_INPUT_MAPS_TOKEN": "1nput",
    }
)


@dataclass(frozen=True, slots=True)
class Case:
    """`path` is where the host keeps the file, below the home folder. `{folder}` stands for the file's, `{cwd}` for ours."""

    file: str
    path: str
    entries: tuple[ServerEntry, ...]
    codes: Mapping[str, int] = field(default_factory=dict)  # of warnings and errors


def started(key: str, *argv: str, env: Mapping[str, str] | None = None, **rest: object) -> ServerEntry:
    entry = ServerEntry(key, key, command=argv[0], args=argv[1:], env={"HOME": "/home/ann", **(env or {})})
    return replace(entry, **rest)  # type: ignore[arg-type]


def remote(key: str, connection: Remote, **rest: object) -> ServerEntry:
    return replace(ServerEntry(key, key, remote=connection), **rest)  # type: ignore[arg-type]


MAPS = "https://maps.example.test/mcp"

CASES = (
    Case(
        "claude-desktop.json",
        ".config/Claude/claude_desktop_config.json",
        (
            started(
                "notes", "/usr/local/bin/notes-server", "--folder", "/home/ann/notes", env={"NOTES_MODE": "read"}
            ),
        ),
        {"unknown_key": 1},
    ),
    Case(
        "claude-code.json",
        ".claude.json",
        (
            started(
                "notes", "notes-server", "--user", "ann",
                env={"COST": "$5"}, timeout_seconds=90.0, always_load=True, exclude_tools=("erase",),
            ),
            remote(
                "maps",
                Remote(
                    "https://maps.example.test/eu/mcp",
                    "http",
                    {"Authorization": "Bearer t0k"},
                    ("/opt/bin/headers", "--for", "the maps"),
                ),
                exclude_tools=("erase",),
            ),
            remote("old", Remote("https://old.example.test/sse", "sse")),
            remote("new", Remote("https://new.example.test/mcp", "http")),
        ),
    ),
    Case(
        "vscode.json",
        ".config/Code/User/mcp.json",
        (
            started(
                "notes", "notes-server", "--folder", "{cwd}/notes", "--home", "/home/ann",
                env={"LANGUAGE": "de"}, cwd="{cwd}",
            ),
            remote("maps", Remote("https://maps.example.test/eu/mcp", "http", {"Authorization": "Bearer 1nput"})),
        ),
    ),
    Case(
        "cursor.json",
        ".cursor/mcp.json",
        (
            started("notes", "notes-server", "work", "a/b", env={"LANGUAGE": "de", "FROM_FILE": "1"}),
            remote("maps", Remote(MAPS, "auto", {"X-Token": "t0k"})),
        ),
    ),
    Case(
        "windsurf.json",
        ".codeium/windsurf/mcp_config.json",
        (
            started("notes", "notes-server", env={"LANGUAGE": "de"}, exclude_tools=("erase",)),
            remote("maps", Remote(MAPS, "auto", {"X-Token": "t0k"})),
        ),
    ),
    Case(
        "antigravity.json",
        ".gemini/antigravity/mcp_config.json",
        (
            started("notes", "notes-server", "-v", disabled=True),
            remote("maps", Remote("https://maps.example.test/sse/", "auto", {"X-Token": "t0k"})),
        ),
    ),
    Case(
        "gemini.json",
        ".gemini/settings.json",
        (
            started(
                "notes", "notes-server", "--price", "$5", "$NOTES_LANGUAGE",
                env={"LANGUAGE": "de", "OTHER": "de"}, cwd="{folder}/work", timeout_seconds=600.0,
                include_tools=("read", "erase"), exclude_tools=("erase",),
            ),
            remote("maps", Remote(MAPS, "http", {"X-Token": "t0k"}), timeout_seconds=5.0),
            remote("old", Remote("https://old.example.test/sse", "auto")),
        ),
        {"no_such_folder": 1},
    ),
    Case(
        "codex.toml",
        ".codex/config.toml",
        (
            started(
                "notes", "notes-server", "--folder", "notes",
                env={"MODE": "fast", "NOTES_LANGUAGE": "de", "NOTES_THEME": "dark"}, cwd="/srv/notes",
                timeout_seconds=1.5, start_timeout_seconds=20.0,
                include_tools=("read", "write"), exclude_tools=("erase",),
            ),
            remote(
                "maps",
                Remote(
                    MAPS, "auto",
                    {"Authorization": "Bearer t0k", "X-Region": "eu", "X-Team": "blue"},
                    ("/opt/bin/headers", "maps"),
                ),
                start_timeout_seconds=15.0,
            ),
            started("off", "off-server", disabled=True, exclude_tools=("*",)),
        ),
        {"no_such_folder": 1},
    ),
    Case(
        "cline.json",
        ".cline/data/settings/cline_mcp_settings.json",
        (
            started(
                "notes", "notes-server", env={"MODE": "fast"}, timeout_seconds=1800.0, total_timeout_seconds=1800.0
            ),
            remote("maps", Remote(MAPS, "http", {"X-Token": "abc"}), disabled=True, timeout_seconds=60.0),
            remote("old", Remote("https://old.example.test/events", "sse")),
        ),
    ),
    Case(
        "roo.json",
        "garden/.roo/mcp.json",
        (
            started(
                "notes", "notes-server", "-v",
                cwd="/srv/notes", timeout_seconds=3600.0, total_timeout_seconds=3600.0, exclude_tools=("erase",),
            ),
            remote("maps", Remote(MAPS, "http", {"X-Token": "t0k"}), disabled=True),
        ),
        {"no_such_folder": 1},
    ),
    Case(
        "opencode-v1.jsonc",
        ".config/opencode/opencode.jsonc",
        (
            started(
                "notes", "notes-server", "--language", "de",
                env={"MODE": "fast", "BRACES": "{a}"}, timeout_seconds=5.0,
            ),
            remote("maps", Remote(MAPS, "auto", {"Authorization": "Bearer t0k"})),
            started("servers", "one-called-servers", disabled=True),
        ),
    ),
    Case(
        "opencode-v2.json",
        ".config/opencode/opencode.json",
        (
            started(
                "notes", "notes-server", "--language", "de",
                env={"MODE": "fast"}, cwd="{folder}", disabled=True, timeout_seconds=45.0, start_timeout_seconds=20.0,
            ),
            remote("maps", Remote(MAPS, "auto", {"Authorization": "Bearer t0k"})),
        ),
    ),
    Case(
        "goose.yaml",
        ".config/goose/config.yaml",
        (
            started(
                "notes", "notes-server", "--share", "22:22", "--yes",
                env={"MODE": "on", "PORT": "8080", "NOTES_LANGUAGE": "de"}, description="What I wrote down",
                timeout_seconds=7200.0, total_timeout_seconds=7200.0,
            ),
            remote(
                "maps", Remote(MAPS, "http", {"X-Token": "t0k"}),
                disabled=True, timeout_seconds=300.0, include_tools=("route",),
            ),
        ),
    ),
    Case(
        "zed.json",
        ".config/zed/settings.json",
        (
            started("notes", "notes-server", "-v", env={"MODE": "fast"}),
            remote("maps", Remote(MAPS, "auto", {"X-Region": "eu"})),
        ),
    ),
    Case(
        "zed-old.json", ".config/zed/settings.json", (started("notes", "notes-server", "-v", env={"MODE": "fast"}),)
    ),
    Case(
        "lm-studio.json",
        ".lmstudio/mcp.json",
        (started("notes", "notes-server", "-v"), remote("maps", Remote(MAPS, "auto", {"X-Region": "eu"}))),
    ),
    Case(
        "copilot-cli.json",
        ".copilot/mcp-config.json",
        (
            started("notes", "notes-server", "-v", env={"MODE": "fast"}),
            started("some", "some-server", include_tools=("read", "list")),
            started("none", "none-server", exclude_tools=("*",)),
            remote("maps", Remote(MAPS, "http", {"X-Region": "eu"})),
        ),
    ),
    Case(
        "continue.yaml",
        ".continue/config.yaml",
        (
            started("notes", "notes-server", "-v", env={"MODE": "fast", "LANGUAGE": "de"}, start_timeout_seconds=20.0),
            remote("maps", Remote(MAPS, "http", {"Authorization": "Bearer t0k"})),
        ),
    ),
    Case(
        "openclaw.json5",
        ".openclaw/openclaw.json",
        (
            started(
                "notes", "notes-server", "-v",
                env={"MODE": "fast", "LANGUAGE": "de"}, cwd="/srv/notes", timeout_seconds=45.0,
                start_timeout_seconds=20.0, include_tools=("read_*",), exclude_tools=("read_secret",),
            ),
            remote("old", Remote("https://old.example.test/mcp", "sse", {"X-Token": "t0k"})),
            remote("maps", Remote(MAPS, "http")),
            started("off", "off-server", disabled=True),
        ),
        {"no_such_folder": 1},
    ),
    Case(
        "mcporter.jsonc",
        ".mcporter/mcporter.jsonc",
        (
            started(
                "notes", "notes-server", "-v", "two words",
                env={"LANGUAGE": "de", "MODE": "fast"}, description="What I wrote down", include_tools=("read",),
            ),
            started("listed", "listed-server", "-v", exclude_tools=("erase",)),
            remote("maps", Remote(MAPS, "auto", {"X-Token": "t0k", "X-Price": "5 $env:MAPS_TOKEN"})),
            remote("bearer", Remote("https://bearer.example.test/mcp", "auto", {"Authorization": "Bearer t0k"})),
        ),
    ),
)  # fmt: skip


def settings_at(case: Case, path: Path, cwd: Path) -> Settings:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(FILES / case.file, path)
    (path.parent / "notes.env").write_text("FROM_FILE=1\n", encoding="utf-8")
    for file in path.parent.iterdir():
        file.chmod(0o600)
    cwd.mkdir()
    # The home folder is a real one, so that a file below it counts as the person's own.
    return load([path], {**ENVIRON, "XDG_CONFIG_HOME": str(path.parent)}, cwd)


def as_expected(entry: ServerEntry, folder: Path, cwd: Path) -> ServerEntry:
    """The case's entry with its placeholders filled in."""

    def filled(text: str) -> str:
        return text.replace("{folder}", str(folder)).replace("{cwd}", str(cwd))

    return replace(entry, args=tuple(map(filled, entry.args)), cwd=None if entry.cwd is None else filled(entry.cwd))


def plain(entry: ServerEntry) -> ServerEntry:
    """An entry as the cases write it: no fingerprint, no secrets, and none of what every child gets."""
    connection = entry.remote and replace(entry.remote, headers=dict(entry.remote.headers))
    env = {name: value for name, value in entry.env.items() if name != "XDG_CONFIG_HOME" and connection is None}
    return replace(entry, remote=connection, env=env, fingerprint="", secrets=frozenset())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
@pytest.mark.parametrize("at_home", [True, False], ids=["at the host's path", "under another name"])
def test_a_file_of_every_host_gives_its_entries(case: Case, at_home: bool, tmp_path: Path) -> None:
    path = tmp_path / case.path if at_home else tmp_path / f"a{Path(case.file).suffix}"
    cwd = tmp_path / "work"
    settings = settings_at(case, path, cwd)
    assert [plain(server) for server in settings.servers] == [
        as_expected(entry, path.parent, cwd) for entry in case.entries
    ]
    troubled = [finding.code for finding in settings.findings if finding.severity != "note"]
    known = {code for code in troubled if code != "unknown_key"}
    assert known <= {*case.codes}, settings.findings
    assert not [finding for finding in settings.findings if finding.severity == "error"]
    if at_home:
        assert {code: troubled.count(code) for code in troubled} == dict(case.codes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
def test_every_entry_of_a_hosts_file_can_be_used(case: Case, tmp_path: Path) -> None:
    settings = settings_at(case, tmp_path / case.path, tmp_path / "work")
    assert [server.key for server in settings.servers if server.problem] == []


def test_every_file_has_its_case() -> None:
    assert sorted(case.file for case in CASES) == sorted(file.name for file in FILES.iterdir())
