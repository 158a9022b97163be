"""What running gateways say of themselves in their state files."""

import json
from pathlib import Path

from upstream_clients import JsonObject


def state_of(folder: Path, pid: int) -> JsonObject:
    """The state file of the gateway with this process id and its state in this folder; empty while there is none."""
    path = folder / "toolfold-state" / "gateways" / f"{pid}.json"
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    assert isinstance(document, dict)
    return document
