"""A real OpenClaw Gateway on loopback: its files in one folder, and one model that is ours.

It looks for no updates, other machines or other models; what it still asks is the name clawhub.ai, at its start. Its log
is a file of its own, which is where it tells why a tool has failed.
"""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from tests.real_openclaw.provider import MODEL

TOKEN: Final = "a-token-for-the-real-gateway"
OPENED: Final = ("sessions_send", "sessions_spawn")
"""What the operator lets in over HTTP."""

UP_SECONDS: Final = 300.0
"""From the start to the first answer: half a minute, with two processors that are busy otherwise."""

LOOK_SECONDS: Final = 0.2
END_SECONDS: Final = 30.0
"""For leaving in peace; what is under way would be waited for much longer."""

QUIET: Final = {
    "OPENCLAW_DISABLE_BONJOUR": "1",
    "OPENCLAW_NO_AUTO_UPDATE": "1",
    "OPENCLAW_NO_RESPAWN": "1",
    "OPENCLAW_SKIP_CHANNELS": "1",
    "DO_NOT_TRACK": "1",
}

_OPENER: Final = build_opener(ProxyHandler({}))


@dataclass(slots=True)
class RealGateway:
    """`home` is the home folder of its process, `program` the file that Node runs."""

    node: Path
    program: Path
    home: Path
    port: int
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _output: IO[bytes] | None = field(default=None, repr=False)

    @classmethod
    def prepare(cls, node: Path, program: Path, home: Path, model_url: str) -> "RealGateway":
        """Writes its configuration."""
        gateway = cls(node, program, home, _free_port())
        path = home / ".openclaw" / "openclaw.json"
        path.parent.mkdir()
        path.touch(mode=0o600)
        path.write_text(json.dumps(_configuration(gateway, model_url)), encoding="utf-8")
        return gateway

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.home / "gateway.log").read_text(encoding="utf-8", errors="replace")

    def start(self) -> None:
        """Returns once it is ready.

        Raises:
            TimeoutError: it is not, within UP_SECONDS.
            ChildProcessError: it has ended. The message has the end of what it said.
        """
        self._output = (self.home / "output.txt").open("ab")
        self._process = subprocess.Popen(
            [self.node, self.program, "gateway", "run"],
            cwd=self.home,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,
        )
        deadline = time.monotonic() + UP_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None:
                raise ChildProcessError(f"the Gateway ended with {self._process.returncode}:\n{self._said()}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"the Gateway is not ready within {UP_SECONDS:.0f} s:\n{self._said()}")
            time.sleep(LOOK_SECONDS)

    def kill(self) -> None:
        """Ends it and its children at once."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None or self._output is None:
            return
        self._process.send_signal(how)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()
        self._process = None

    def _is_ready(self) -> bool:
        try:
            with _OPENER.open(f"{self.url}/readyz", timeout=5) as response:
                return bool(response.status == 200)
        except (URLError, OSError):
            return False

    def _said(self) -> str:
        return (self.home / "output.txt").read_text(encoding="utf-8", errors="replace")[-2000:]

    def _environment(self) -> Mapping[str, str]:
        path = os.pathsep.join((str(self.node.parent), os.defpath))
        places = {"HOME": str(self.home), "TMPDIR": str(self.home), "XDG_RUNTIME_DIR": str(self.home)}
        return {"PATH": path, "LANG": "C.UTF-8", **places, **QUIET}


def installed(folder: Path) -> tuple[Path, Path] | None:
    """Node, and the program that it runs, in this folder; None if they are not there."""
    (node, *_) = [*folder.glob("node/node_modules/node-*/bin/node"), None]
    program = folder / "node_modules" / "openclaw" / "openclaw.mjs"
    return (node, program) if node is not None and program.exists() else None


def _configuration(gateway: RealGateway, model_url: str) -> Mapping[str, object]:
    model = {"id": MODEL, "name": "Parrot", "input": ["text"], "contextWindow": 128_000, "maxTokens": 4096}
    ours = {"baseUrl": model_url, "apiKey": "none", "api": "openai-completions", "models": [model]}
    return {
        "gateway": {
            "mode": "local",
            "bind": "loopback",
            "port": gateway.port,
            "auth": {"mode": "token", "token": TOKEN},
            "controlUi": {"enabled": False},
            "tools": {"allow": list(OPENED)},
        },
        "models": {"mode": "replace", "providers": {"parrots": ours}, "catalogRefresh": {"enabled": False}},
        "agents": {
            "defaults": {
                "model": {"primary": f"parrots/{MODEL}"},
                "skipBootstrap": True,
                "heartbeat": {"every": "0m"},
            }
        },
        "tools": {"alsoAllow": ["llm-task"]},
        "plugins": {"entries": {"llm-task": {"enabled": True}}},
        "logging": {"file": str(gateway.home / "gateway.log")},
        "update": {"checkOnStart": False},
        "telemetry": {"enabled": False},
        "discovery": {"mdns": {"mode": "off"}},
    }


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    assert isinstance(port, int)
    return port
