"""Several gateways over one cache folder: each file in it is whole at any moment, and nobody complains."""

import json
import os
from pathlib import Path

import pytest

from tests.support.hosts import open_host
from tests.support.upstreams import entry, write_config
from tests.support.waiting import until

UPSTREAMS = ("one", "two")


def tools_of_round(number: int) -> list[dict[str, object]]:
    """A listing that is another one in each round, and of another length."""
    schema = {"type": "object"}
    return [
        {"name": f"tool_{tool}", "description": f"Round {number}. " * (number % 7 + 1), "inputSchema": schema}
        for tool in range(40 + number % 5)
    ]


def stored() -> dict[str, object]:
    """The listings in the cache. Fails if a file is torn, or is none of ours."""
    files = [path for path in cache_files() if path.suffix == ".json"]
    return {path.name.rpartition("-")[0]: json.loads(path.read_bytes())["tools"] for path in files}


def cache_files() -> list[Path]:
    return [path for path in Path(os.environ["TOOLFOLD_CACHE_DIR"]).rglob("*") if path.is_file()]


async def rounds(folder: Path, marker: str, count: int) -> None:
    """In every other round the gateways are ended as soon as they run; in the rest once the new listings are stored."""
    tools = folder / "tools"
    config = write_config(folder, {name: entry(marker=marker, tools_file=str(tools)) for name in UPSTREAMS})
    known = [{name: tools_of_round(number) for name in UPSTREAMS} for number in range(count)]
    for number in range(count):
        tools.write_text(json.dumps(tools_of_round(number)))
        async with open_host(config, era="ungreeted") as first, open_host(config) as second:
            if number % 2 == 0:
                await until(lambda: stored() == known[number])  # noqa: B023  (awaited here and now)
        assert (first.stderr, second.stderr) == ("", "")
        assert all(tools in (known[number][name], known[number - 1][name]) for name, tools in stored().items())
    assert sorted({path.suffix for path in cache_files()}) == [".json"]


async def test_two_gateways_start_and_stop_over_one_cache(tmp_path: Path, marker: str) -> None:
    await rounds(tmp_path, marker, 10)


@pytest.mark.soak
async def test_two_gateways_start_and_stop_over_one_cache_for_a_long_time(tmp_path: Path, marker: str) -> None:
    await rounds(tmp_path, marker, 200)
