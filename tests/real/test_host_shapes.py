"""Files as `@gleanwork/mcp-config-schema` writes them for each host that it knows, at the paths that it names."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from server.config import Remote, ServerEntry, load
from tests.real.conftest import REAL

pytestmark = pytest.mark.real

PACKAGE: Final = REAL / "node_modules" / "@gleanwork" / "mcp-config-schema"
URL: Final = "https://mcp.example.test/mcp"

# Hosts that have no address in their file: what stands there starts a program that connects.
STDIO_ONLY: Final = frozenset({"claude-desktop"})

# The hosts whose file the package can write; a new one, or one less, is worth a look.
HOSTS: Final = (
    "antigravity", "antigravity-cli", "claude-code", "claude-desktop", "codex", "cursor", "cursor-agent", "gemini", "goose",
    "jetbrains", "junie", "opencode", "vscode", "windsurf",
)  # fmt: skip

WRITE: Final = """
import { createRequire } from "node:module";
const { MCPConfigRegistry } = createRequire(process.argv[1])("@gleanwork/mcp-config-schema");
const registry = new MCPConfigRegistry({ serverPackage: "@example/server" });
const connections = {
  local: { transport: "stdio", serverName: "local", env: { MODE: "fast" } },
  remote: { transport: "http", serverName: "remote", serverUrl: process.argv[2], headers: { "X-Token": "abc" } },
};
const written = {};
for (const { id, configPath, configFormat } of registry.getSupportedClients()) {
  const builder = registry.createBuilder(id);
  const text = (connection) => builder.toString(builder.buildConfiguration(connection));
  const path = configPath.linux ?? `$HOME/any.${configFormat}`;
  written[id] = { path, local: text(connections.local), remote: text(connections.remote) };
}
console.log(JSON.stringify(written));
"""


@dataclass(frozen=True, slots=True)
class Written:
    """One host's file with a server that is started, and with one that is connected to."""

    path: str
    local: str
    remote: str


@pytest.fixture(scope="module")
def written(node: str) -> Mapping[str, Written]:
    if not PACKAGE.exists():
        pytest.fail(f"{PACKAGE} is missing. Run `make test-real`.", pytrace=False)
    command = [node, "--input-type=module", "--eval", WRITE, str(PACKAGE), URL]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return {host: Written(**parts) for host, parts in json.loads(ran.stdout).items()}


def only_entry(text: str, place: str, home: Path) -> ServerEntry:
    path = Path(place.replace("$HOME", str(home)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    settings = load([path], {}, home)
    assert [finding.code for finding in settings.findings if finding.severity != "note"] == []
    (entry,) = settings.servers
    return entry


def test_the_package_writes_for_the_hosts_that_are_tried_here(written: Mapping[str, Written]) -> None:
    assert tuple(sorted(written)) == HOSTS


@pytest.mark.parametrize("host", HOSTS)
def test_a_server_that_a_host_starts_is_read(written: Mapping[str, Written], host: str, tmp_path: Path) -> None:
    entry = only_entry(written[host].local, written[host].path, tmp_path)
    assert (entry.key, entry.command, entry.args) == ("local", "npx", ("-y", "@example/server"))
    assert (entry.env, entry.remote, entry.problem, entry.disabled) == ({"MODE": "fast"}, None, "", False)


@pytest.mark.parametrize("host", [host for host in HOSTS if host not in STDIO_ONLY])
def test_a_server_that_a_host_connects_to_is_read(written: Mapping[str, Written], host: str, tmp_path: Path) -> None:
    entry = only_entry(written[host].remote, written[host].path, tmp_path)
    assert entry.remote is not None
    assert entry.remote.transport in ("http", "auto")
    assert entry.remote == Remote(URL, entry.remote.transport, {"X-Token": "abc"})
    assert (entry.key, entry.command, entry.disabled) == ("remote", "", False)


@pytest.mark.parametrize("host", sorted(STDIO_ONLY))
def test_a_host_without_addresses_starts_what_connects(
    written: Mapping[str, Written], host: str, tmp_path: Path
) -> None:
    entry = only_entry(written[host].remote, written[host].path, tmp_path)
    assert (entry.command, entry.remote, entry.args[:3]) == ("npx", None, ("-y", "mcp-remote", URL))
