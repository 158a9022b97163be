"""Gateways behind gateways, as entries of `mcpServers`."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.hosts import ROOT, JsonObject
from tests.support.upstreams import write_config


def toolfold(config: Path, **beside: object) -> JsonObject:
    """An entry that starts a gateway over this configuration, with its cache and state beside that."""
    places = {f"TOOLFOLD_{kind.upper()}_DIR": str(config.parent / f"toolfold-{kind}") for kind in ("cache", "state")}
    return {
        "command": sys.executable,
        "args": ["-P", "-m", "server.cli", "serve", "--config", str(config)],
        "env": {"PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))), **places},
        "gateway": True,
        **beside,
    }


def config_in(
    folder: Path, servers: Mapping[str, Mapping[str, object]], gateway: Mapping[str, object] | None = None
) -> Path:
    """A configuration in a folder of its own, made if it is not there."""
    folder.mkdir(exist_ok=True)
    return write_config(folder, servers, gateway)
