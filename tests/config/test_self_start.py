import pytest

from server.config.self_start import starts_toolfold


@pytest.mark.parametrize(
    "line",
    [
        "toolfold",
        "toolfold serve",
        "/home/ann/.local/bin/toolfold serve",
        r"C:\Tools\toolfold.exe serve",
        "Toolfold.EXE",
        "uvx toolfold",
        "uvx toolfold@latest serve",
        "uvx toolfold==0.1.0",
        "uvx --from toolfold toolfold serve",
        "uvx --from=git+https://example.org/x toolfold",
        "uvx --python 3.12 --with json5 -q toolfold[tokens] serve",
        "/opt/bin/uvx.exe toolfold",
        "uv tool run toolfold",
        "uv tool run --isolated toolfold serve",
        "uv --directory /srv run toolfold serve",
        "uv run --project . python -m server.cli serve",
        "uv run -m server.cli",
        "pipx run toolfold",
        "pipx run --spec ./dist/x.whl toolfold serve",
        "python -m server.cli serve",
        "python3.13 -P -u -X dev -m server.cli",
        r"C:\Python\pythonw.exe -m server.cli",
        "py -3 -m server.cli",
        "python /usr/local/bin/toolfold serve",
        "env A=1 -u B toolfold serve",
        "/usr/bin/env uvx toolfold",
        "cmd /c toolfold serve",
        "cmd /C uvx toolfold",
    ],
)
def test_a_command_that_ends_in_toolfold_is_recognised(line: str) -> None:
    assert starts_toolfold(line.split(" "))


@pytest.mark.parametrize(
    "script",
    [
        "toolfold serve",
        "exec toolfold serve",
        "cd /srv && exec toolfold serve",
        "A=1 uvx toolfold; ",
        ". ~/.env\ntoolfold",
    ],
)
@pytest.mark.parametrize("shell", [["bash", "-lc"], ["/bin/sh", "-c"], ["zsh", "-l", "-c"]])
def test_a_shell_line_that_ends_in_toolfold_is_recognised(shell: list[str], script: str) -> None:
    assert starts_toolfold([*shell, script])


@pytest.mark.parametrize(
    "line",
    [
        "",
        "npx -y @modelcontextprotocol/server-filesystem /home/ann/toolfold",
        "uvx mcp-server-git --repository toolfold",
        "uvx --with toolfold mcp-server-time",
        "uvx toolfolder",
        "uv run --directory /home/ann/toolfold server",
        "uv tool run mcp-server-git toolfold",
        "python -m server",
        "python -m server.demo.files /tmp/toolfold",
        "python -c toolfold toolfold",
        "python -m other toolfold",
        "uvx A=toolfold",
        "python server.py toolfold",
        "/opt/toolfold/bin/other",
        "my-toolfold",
        "node toolfold",
        "env",
        "bash script.sh toolfold",
        "bash -c",
    ],
)
def test_a_command_that_only_mentions_toolfold_is_not(line: str) -> None:
    assert not starts_toolfold(line.split(" ") if line else [])


@pytest.mark.parametrize("script", ["echo toolfold", "toolfold check && other", "'", ""])
def test_a_shell_line_that_ends_in_something_else_is_not(script: str) -> None:
    assert not starts_toolfold(["sh", "-c", script])


def test_endless_launchers_end() -> None:
    assert not starts_toolfold(["env"] * 1000 + ["toolfold"])
