"""Names of OpenClaw's tools in `gateway.openclaw` that are nearly those of a tool, and are none."""

from collections.abc import Iterable, Iterator
from typing import Final

from server.config import Finding, ServerEntry
from server.config.findings import closest, shown
from upstream_clients import KNOWN_TOOLS

GLOB_CHARACTERS: Final = frozenset("*?[")


def name_findings(servers: Iterable[ServerEntry]) -> Iterator[Finding]:
    """One for each slip. A name that resembles none is taken for that of a plugin's tool."""
    for server in servers:
        gateway = server.openclaw
        if gateway is None or server.disabled or server.problem:
            continue
        for key, names in {"allow": gateway.allow, "deny": gateway.deny, "alsoAllow": gateway.also_allow}.items():
            for name in names:
                known = name in KNOWN_TOOLS or GLOB_CHARACTERS & set(name)
                meant = None if known else closest(name, KNOWN_TOOLS)
                if meant:
                    message = f"`{shown(name)}` is not the name of a tool that OpenClaw is known to have."
                    fix = f"Did you mean `{meant}`?"
                    yield Finding("warning", "unknown_tool", f"{server.where}.{key}", message, fix)
