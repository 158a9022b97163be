import json
import shutil
from pathlib import Path

from server.config import load

EXAMPLE = Path(__file__).parents[2] / "mcp.json.example"


def test_the_example_is_strict_json_and_loads_without_an_error_or_a_warning(tmp_path: Path) -> None:
    json.loads(EXAMPLE.read_text(encoding="utf-8"))
    path = tmp_path / "mcp.json"
    shutil.copyfile(EXAMPLE, path)
    path.chmod(0o600)  # a checkout takes the mode that the umask leaves
    settings = load([path], {"HOME": "/home/ann", "PATH": "/usr/bin"}, tmp_path)
    assert {finding.severity for finding in settings.findings} <= {"note"}
    assert [server.key for server in settings.servers if not server.disabled] == ["files", "memory", "git", "time"]
    assert [server.problem for server in settings.servers if not server.disabled] == [""] * 4
    assert settings.gateway.direct_tools == ("mcp:time:get_current_time",)
    assert settings.gateway.tool_search.mode == "tools"
