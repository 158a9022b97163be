"""The command with a standard descriptor closed, full or left by its reader."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli_runs import COMMAND, environment
from tests.support.upstreams import entry, write_config


def shell(folder: Path, redirection: str, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    line = f'exec "$@" {redirection}'
    return subprocess.run(
        ["sh", "-c", line, "sh", *COMMAND, *arguments],
        cwd=folder,
        env=environment({}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("redirection", ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_serve_ends_quietly_where_standard_descriptors_are_closed(tmp_path: Path, redirection: str) -> None:
    write_config(tmp_path, {"one": entry()})
    done = shell(tmp_path, redirection, "serve")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux")
def test_output_that_can_not_be_written_is_a_failure_and_no_traceback(tmp_path: Path) -> None:
    write_config(tmp_path, {"one": entry()})
    done = shell(tmp_path, ">/dev/full", "list")
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)


def test_a_host_may_be_a_file_and_its_answers_another(tmp_path: Path) -> None:
    write_config(tmp_path, {})
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "file", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    (tmp_path / "asked").write_text(f"{json.dumps(asked)}\n", encoding="utf-8")
    done = shell(tmp_path, "<asked >answered", "serve")
    [answer] = (tmp_path / "answered").read_bytes().splitlines()
    assert (done.returncode, json.loads(answer)["result"]["serverInfo"]["name"]) == (0, "toolfold")
