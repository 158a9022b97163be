"""What is on disk is damaged or poisoned, or nothing can be written."""

import os
import signal
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from tests.faults.matrix import Figures, Place, Row, Run, stays, takes
from tests.faults.poison import plant_index, poison, watched
from tests.faults.stage import Stage
from tests.support.hosts import SERVE, open_host
from tests.support.upstreams import entry, write_config
from tests.support.waiting import until, until_asked

TOOLS: Final = {"forecast": "Tells the weather forecast of a city.", "invoice": "Writes an invoice for a customer."}
QUERIES: Final = {
    "weather forecast": "forecast", "invoice": "invoice", "wetter": "forecast", "发票": "invoice", "forcast": "forecast",
}  # fmt: skip
"""In English, in two other languages, and misspelt, since each asks other parts of the search; and what they find."""

RIGHT: Final = [[f"mcp:{owner}:{name}" for owner in ("one", "two")] for name in QUERIES.values()]
CANARY: Final = "canary"

KINDS: Final = ("the session log", "the state file", "the listing of", "what was accepted of")
STORING: Final = 5
ROUNDS: Final = 5

HEED_MODES: Final = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Without CAP_DAC_OVERRIDE, a process of the superuser may do what the modes of files allow, and no more."""

ALSO_KEPT: Final = (
    "cache/code/verdict.json",
    "state/approvals.json",
    "state/inputs.json",
    "state/nodes/0123456789abcdef",
    "state/openclaw-device.key",
)
"""Files that a gateway may have kept there, and this one has not."""

INDEX_FOLDERS: Final = ("cache", "cache/index", "cache/listings", "state", "state/pins")
"""Where somebody might think that an index would be looked for."""

Damage: TypeAlias = Callable[[bytes, int], bytes]
"""From the content of a file, and its number, to what is found there."""


def configured(place: Place) -> Path:
    schema = {"type": "object"}
    tools = [{"name": name, "description": words, "inputSchema": schema} for name, words in TOOLS.items()]
    servers = {
        owner: entry(tools=tools, does={"echo": {"do": "echo"}}, marker=place.marker) for owner in ("one", "two")
    }
    return write_config(place.folder, servers, {"policy": {"ask": ["mcp:two:echo"]}})


async def stored(stage: Stage) -> None:
    """Returns once there are files of each kind."""
    kinds = ("cache/listings", "state/pins", "state/sessions", "state/gateways")
    await until(lambda: all(any(place_of(stage.place, kind).glob("*.json*")) for kind in kinds))
    for owner in ("one", "two"):
        await stage.until_state(owner, "ready")


def place_of(place: Place, name: str) -> Path:
    return place.folder / f"toolfold-{name}"


def damage(place: Place, how: Damage) -> None:
    """To every file that is there, and in place of each that could be."""
    files = [path for kind in ("cache", "state") for path in place_of(place, kind).rglob("*") if path.is_file()]
    for number, path in enumerate(sorted(files) + [place_of(place, name) for name in ALSO_KEPT]):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(how(path.read_bytes() if path.exists() else b"{}", number))


def poisoned(place: Place) -> None:
    canary = place.folder / CANARY
    damage(place, lambda _content, _number: poison(canary))
    for folder in INDEX_FOLDERS:
        plant_index(place_of(place, folder), canary)
    plant_index(place.folder, canary)  # where the gateway is started


def torn(place: Place) -> None:
    ways: tuple[Callable[[bytes], bytes], ...] = (
        lambda content: content[: len(content) // 2],
        lambda content: bytes(byte ^ 0xFF for byte in content),
        lambda _content: b"",
        lambda content: bytes(len(content)),
    )
    damage(place, lambda content, number: ways[number % len(ways)](content))


async def until_right(stage: Stage) -> float:
    """Seconds until every query finds what it should."""

    async def is_right() -> bool:
        return [await stage.search(query) for query in QUERIES] == RIGHT

    began = time.monotonic()
    await until_asked(is_right)
    return time.monotonic() - began


async def started_over(place: Place, harm: Callable[[Place], None]) -> Figures:
    """A gateway is killed, what it has stored is harmed, and another one starts over it."""
    config, unpickled = configured(place), place.folder / "unpickled"
    async with open_host(config, added=watched(unpickled)) as host:
        stage = Stage(place, host)
        first = await until_right(stage)
        await stored(stage)
        os.kill(stage.pid, signal.SIGKILL)
        await host.ended()
    harm(place)
    async with open_host(config, added=watched(unpickled)) as host:
        stage = Stage(place, host)
        seconds = await until_right(stage)
        assert await stage.text("mcp:one:echo", text="here") == "here"
        assert (await stage.failure("mcp:two:echo"))[0] == "approval_needed"
    assert "Traceback" not in host.stderr
    assert not unpickled.exists(), unpickled.read_text(encoding="utf-8")
    assert not (place.folder / CANARY).exists()
    return {"search right later by": max(0.0, seconds - first)}


async def poisoned_files(place: Place) -> Figures:
    return await started_over(place, poisoned)


async def torn_files(place: Place) -> Figures:
    return await started_over(place, torn)


async def full_disk(place: Place) -> Figures:
    return await without_storing(place, ("sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *SERVE))


async def read_only_folders(place: Place) -> Figures:
    folders = [place_of(place, kind) for kind in ("cache", "state")]
    for folder in folders:
        folder.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    try:
        figures = await without_storing(place, (sys.executable, "-I", "-c", HEED_MODES, *SERVE))
        assert [path for folder in folders for path in folder.iterdir()] == []
    finally:
        for folder in folders:
            folder.chmod(stat.S_IRWXU)
    return figures


async def until_found(stage: Stage, name: str) -> None:
    async def is_found() -> bool:
        return f"mcp:u0:{name}" in await stage.search(name)

    await until_asked(is_found)


async def without_storing(place: Place, command: Sequence[str]) -> Figures:
    """Tools are called and keep changing, so that there is always something to store."""
    grow = [{"do": "change", "adds": "grown"}, {"do": "text", "text": "done"}]
    one = entry(does={"echo": {"do": "echo"}, "grow": grow}, marker=place.marker)
    config = write_config(place.folder, {f"u{number}": one for number in range(STORING)})
    async with open_host(config, command=command) as host:
        stage = Stage(place, host)
        for number in range(ROUNDS):
            for owner in range(STORING):
                assert await stage.text(f"mcp:u{owner}:echo", text=f"{number}") == f"{number}"
            assert await stage.text("mcp:u0:grow") == "done"
            await until_found(stage, f"grown_{number + 2}")
        assert host.process.returncode is None
    warnings = [line for line in host.stderr.splitlines() if "WARNING" in line]
    kinds = Counter(next(kind for kind in KINDS if kind in line) for line in warnings)
    assert set(kinds) == set(KINDS), host.stderr
    return {"warnings of a kind": max(kinds.values())}


RIGHT_LATER: Final = takes("search right later by", 1)
ONCE: Final = stays("warnings of a kind", 1)

ROWS: Final = (
    Row(
        25,
        "what is stored is corrupt, torn or poisoned",
        "every file in the state and cache folders is harmed; a Whoosh index with a crafted table of contents",
        "everything is listed and indexed anew; nothing is unpickled that the process has not pickled itself",
        "PWNED absent; search right < 1 s",
        (
            Run(poisoned_files, (RIGHT_LATER,), how="poisoned pickles"),
            Run(torn_files, (RIGHT_LATER,), how="cut, flipped, emptied, zeroed"),
        ),
        "The time is what a first start, with nothing stored, does not take. Whoosh pickles numbers into its own memory and"
        " reads them from there; the watch lets it do that and nothing else (`tests/support/unpickling`).",
    ),
    Row(
        26,
        "nothing can be written",
        "RLIMIT_FSIZE=0; folders that may only be read",
        "it serves from memory and warns once",
        "calls 100 % ok",
        (
            Run(full_disk, (ONCE,), how="full disk"),
            Run(read_only_folders, (ONCE,), quick=False, how="read-only folders"),
        ),
        "A call that fails fails the row. Four kinds of files are stored, and one warning comes of each.",
    ),
)
