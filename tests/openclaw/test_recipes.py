"""The recipes of the README, as files of the shapes that they are for."""

import json
import re
from pathlib import Path
from typing import Final

from server.config import Settings, load

README: Final = Path(__file__).parents[2] / "README.md"
ENVIRON: Final = {"HOME": "/home/ann", "PATH": "/usr/bin", "OPENCLAW_GATEWAY_TOKEN": "0123456789-token"}


def recipes() -> list[dict[str, object]]:
    section = README.read_text(encoding="utf-8").partition("\n## OpenClaw\n")[2].partition("\n## ")[0]
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", section, re.DOTALL)]


def read(tmp_path: Path, name: str, content: object) -> Settings:
    path = tmp_path / name
    path.write_text(json.dumps(content), encoding="utf-8")
    path.chmod(0o600)
    return load([path], ENVIRON, tmp_path)


def test_there_is_a_recipe_for_each_way_round() -> None:
    assert [next(iter(recipe)) for recipe in recipes()] == ["gateway", "mcp", "mcpServers"]


def test_its_tools_here(tmp_path: Path) -> None:
    settings = read(tmp_path, "mcp.json", recipes()[0])
    (server,) = settings.servers
    assert (server.owner, server.problem, settings.findings) == ("openclaw", "", ())
    assert server.openclaw is not None
    assert (server.openclaw.secret, server.openclaw.allow) == ("0123456789-token", ("sessions_send", "sessions_spawn"))


def test_toolfold_there_and_the_servers_that_it_has_already(tmp_path: Path) -> None:
    mcp = recipes()[1]["mcp"]
    assert isinstance(mcp, dict)
    mcp["servers"]["notes"] = {"command": "notes-server", "args": []}
    theirs = {"gateway": {"mode": "local", "auth": {"mode": "token"}}, "agents": {}, "mcp": mcp}
    settings = read(tmp_path, "openclaw.json", theirs)
    assert [(server.owner, server.problem) for server in settings.servers] == [("notes", "")]
    assert [finding.code for finding in settings.findings] == ["starts_itself"]  # its own entry is known and skipped


def test_its_plugins_without_a_gateway(tmp_path: Path) -> None:
    settings = read(tmp_path, "mcp.json", recipes()[2])
    (server,) = settings.servers
    assert (server.owner, server.command, server.problem, settings.findings) == ("openclaw-plugins", "node", "", ())
    assert server.args[-1].endswith("openclaw/dist/mcp/plugin-tools-serve.js")
    assert (server.env["OPENCLAW_STATE_DIR"], server.start_timeout_seconds) == ("/home/ann/.openclaw", 120.0)
