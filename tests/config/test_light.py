import subprocess
import sys
from pathlib import Path

HEAVY = (
    "typer",
    "rich",
    "mcp",
    "mcp_types",
    "jsonschema",
    "platformdirs",
    "json5",
    "dotenv",
    "yaml",
    "tomllib",
    "whoosh",
    "asyncio",
    "anyio",
)


def test_reading_a_plain_file_imports_nothing_heavy(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {"a": {"command": "x", /* why */ "env": {"A": "${HOME}"},},},}')
    path.chmod(0o600)
    program = (
        "import sys; from pathlib import Path; from server.config import directories, load;"
        "environ = {'HOME': '/home/ann', 'XDG_CACHE_HOME': '/c', 'XDG_STATE_HOME': '/s'};"
        "settings = load([Path(sys.argv[1])], environ, Path('/')); directories(environ);"
        "assert settings.servers[0].env['A'] == '/home/ann';"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("[]\n", "")
