"""A configuration with the three servers that toolfold brings along, for the tour and for whoever wants to try a host.

Never replaces a file that is there.
"""

import json
import sys
from pathlib import Path
from typing import Final

from server.demo import sample

WORKSHOP: Final = "toolfold-workshop"
"""The folder beside the configuration that its servers work on."""


def write(config: Path) -> Path:
    """Writes the configuration, and the folder that its servers work on, which it returns. One of an earlier time stays.

    Raises:
        FileExistsError: there is such a file already.
        OSError: it could not be written.
    """
    workshop = config.absolute().parent / WORKSHOP
    if config.exists():
        raise FileExistsError
    if not workshop.exists():
        workshop.mkdir(parents=True)
        sample.prepare(workshop)
    with config.open("x", encoding="utf-8") as file:
        config.chmod(0o600)
        file.write(json.dumps({"mcpServers": _entries(workshop)}, indent=2) + "\n")
    return workshop


def _entries(workshop: Path) -> dict[str, object]:
    def entry(module: str, *arguments: str) -> dict[str, object]:
        return {"command": sys.executable, "args": ["-P", "-m", f"server.demo.{module}", *arguments]}

    return {
        "files": entry("files", str(workshop)),
        "data": entry("data", str(workshop / sample.DATABASE)),
        "everyday": entry("everyday"),
    }
