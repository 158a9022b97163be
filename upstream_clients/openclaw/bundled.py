"""The tools that come with us: parameters and results as one version of OpenClaw has them, described in our own words.

For what a Gateway does not tell: it gives the schema of no result to anybody, and that of parameters to few.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from upstream_clients.framing import JsonObject

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Bundle:
    """`version` is the OpenClaw whose tools these are, by their names."""

    version: str
    tools: Mapping[str, JsonObject]

    def fits(self, version: str) -> bool:
        """Whether a Gateway's results can be held against our schemas: another version may answer more than they know."""
        return version == self.version


def read_bundle() -> Bundle:
    """Reads it anew; for a worker thread."""
    document = json.loads(files("upstream_clients.openclaw").joinpath("tools.json").read_text(encoding="utf-8"))
    if document["format"] != FORMAT:
        raise ValueError("tools.json is of another format")
    return Bundle(document["openclaw"], MappingProxyType({tool["name"]: tool for tool in document["tools"]}))
