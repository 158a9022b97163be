"""Upstreams to measure over, in a folder of their own, and the commands that start what is compared."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from tests.benchmarks import catalogue
from tests.support.upstreams import write_config

JsonObject: TypeAlias = dict[str, object]

HERE: Final = Path(__file__).parent
SYNTHETIC: Final = HERE / "synthetic.py"
QUIET: Final[JsonObject] = {"log": {"level": "error"}}


@dataclass(frozen=True, slots=True)
class Landscape:
    """A configuration file, and a cache and state folder for toolfold beside it."""

    folder: Path
    config: Path

    @property
    def env(self) -> dict[str, str]:
        return self.env_with_cache("cache")

    def env_with_cache(self, name: str) -> dict[str, str]:
        """The environment of a toolfold, or of what it is compared with. Listings are kept in a folder of this name.

        Compiled modules are kept too, whatever the caller's environment says, as they are where toolfold is installed.
        """
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {
            **kept,
            "PYTHONPYCACHEPREFIX": str(self.folder / "compiled"),
            "TOOLFOLD_CACHE_DIR": str(self.folder / name),
            "TOOLFOLD_STATE_DIR": str(self.folder / "state"),
        }

    @property
    def toolfold(self) -> list[str]:
        return [str(Path(sys.executable).with_name("toolfold")), "serve", "--config", str(self.config)]

    @property
    def floor(self) -> list[str]:
        return [sys.executable, str(HERE / "floor.py"), str(self.config)]

    def command(self, key: str) -> list[str]:
        """How one upstream is started."""
        entry = json.loads(self.config.read_text(encoding="utf-8"))["mcpServers"][key]
        return [entry["command"], *entry["args"]]

    def mood(self, number: int) -> Path:
        """The file that makes upstream `number` hang or crash: see `synthetic.py`."""
        return self.folder / f"mood-{number}"


TRIVIAL_SDK_SERVER: Final = [sys.executable, str(HERE / "trivial_sdk_server.py")]


def synthetic_landscape(folder: Path, upstreams: int, tools: int) -> Landscape:
    """So many upstreams with so many tools each."""
    servers: dict[str, JsonObject] = {}
    landscape = Landscape(folder, folder / "mcp.json")
    for number in range(upstreams):
        listing = folder / f"listing-{number}.json"
        listing.write_text(json.dumps({"tools": catalogue.tools(number, tools)}), encoding="utf-8")
        servers[catalogue.server_name(number)] = replayed(listing, landscape.mood(number))
    write_config(folder, servers, QUIET)
    return landscape


def trouble(landscape: Landscape, hanging: Sequence[int], crashing: Sequence[int]) -> None:
    """From now on these upstreams hang, and those crash."""
    for number in hanging:
        landscape.mood(number).write_text("hang", encoding="utf-8")
    for number in crashing:
        landscape.mood(number).write_text("crash", encoding="utf-8")


def replayed(listing: Path, *mood: Path) -> JsonObject:
    """An entry of `mcpServers` that replays this file."""
    return {"command": sys.executable, "args": ["-I", "-S", str(SYNTHETIC), str(listing), *map(str, mood)]}


def configured(
    folder: Path, servers: Mapping[str, JsonObject], gateway: Mapping[str, object] | None = None
) -> Landscape:
    """A landscape of these entries, with these settings of the gateway."""
    return Landscape(folder, write_config(folder, servers, {**QUIET, **(gateway or {})}))
