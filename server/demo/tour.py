"""`toolfold demo`: the main job on three embedded servers, seen through a host's eyes, and the bill at the end.

Starts the real gateway as a host would, over servers that do real work in a temporary folder. Prints what the host sends
and gets. Needs neither Node nor network.
"""

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import anyio
from rich.console import Console
from rich.table import Table

from index import BYTES_PER_TOKEN, approximate_tokens, shown_bytes
from server.config import load, read_environment
from server.demo import starter
from server.demo.tour_host import TourHost, hosted
from server.listing_cache import ListingCache
from server.redaction import Redactor

SHOWN_CHARACTERS: Final = 600


@dataclass(frozen=True, slots=True)
class Bill:
    """What a host would load up front: every tool, or our three; and what one search and one describe cost on top."""

    tools: int
    direct_bytes: int
    folded_bytes: int
    search_bytes: int
    describe_bytes: int


def run(*, as_json: bool) -> int:
    """Runs the tour and returns the exit code. With `as_json` only the bill is printed, as one JSON object."""
    console = Console(quiet=as_json, highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="toolfold-demo-") as name:
        folder = Path(name)
        config = folder / "mcp.json"
        starter.write(config)
        env = {
            **read_environment(),
            "TOOLFOLD_CACHE_DIR": str(folder / "cache"),
            "TOOLFOLD_STATE_DIR": str(folder / "state"),
        }
        try:
            bill = anyio.run(_tour, config, env, console)
        except (RuntimeError, TimeoutError) as error:
            sys.stderr.write(f"The demo did not work: {error or 'no answer in time'}\n")
            return 1
    if as_json:
        sys.stdout.write(json.dumps(_totals(bill)) + "\n")
    else:
        _print_bill(bill, console)
    return 0


async def _tour(config: Path, env: Mapping[str, str], console: Console) -> Bill:
    async with hosted(["serve", "--config", str(config)], env) as host:
        console.print("[bold]1. What the host sees[/]: three tools, whatever stands behind them.")
        await host.greet()
        listing, _size = await host.request("tools/list", {})
        assert isinstance(listing["tools"], list)
        folded_bytes = shown_bytes(listing["tools"])
        console.print("   " + ", ".join(tool["name"] for tool in listing["tools"]) + "\n")
        await _until_all_are_up(host)
        search_bytes, describe_bytes = await _find_and_call(host, console)
        await _forgive_and_refuse(host, console)
    return _bill(config, env, folded_bytes, search_bytes, describe_bytes)


async def _until_all_are_up(host: TourHost) -> None:
    """A search says which upstreams are still starting; the tour wants all three on the bill."""
    for _ in range(100):
        answer, _size = await host.call("tool_search", {"query": "time", "limit": 1})
        structured = answer["structuredContent"]
        assert isinstance(structured, dict)
        if "starting" not in structured:
            return
        await anyio.sleep(0.2)
    raise RuntimeError("the embedded servers did not start")


async def _find_and_call(host: TourHost, console: Console) -> tuple[int, int]:
    console.print("[bold]2. Search, describe, call[/]")
    found, search_bytes = await _show(host, console, "tool_search", {"query": "read rows from a database", "limit": 3})
    structured = found["structuredContent"]
    assert isinstance(structured, dict)
    tool_id = "mcp:data:query"
    if not any(hit["id"] == tool_id for hit in structured["tools"]):
        raise RuntimeError(f"the search did not find {tool_id}")
    _described, describe_bytes = await _show(host, console, "tool_describe", {"id": tool_id})
    sql = "SELECT name, work, price FROM orders JOIN customers ON customers.id = customer_id WHERE NOT done"
    await _show(host, console, "tool_call", {"id": tool_id, "args": {"sql": sql}})
    return search_bytes, describe_bytes


async def _forgive_and_refuse(host: TourHost, console: Console) -> None:
    console.print(
        "[bold]3. Clumsy arguments are repaired[/] where the intent is certain: a JSON string, a number as text."
    )
    clumsy = {"id": "mcp:data:query", "args": '{"sql": "SELECT work FROM orders ORDER BY id", "limit": "2"}'}
    repaired, _size = await _show(host, console, "tool_call", clumsy)
    meta = repaired["_meta"]
    assert isinstance(meta, dict)
    console.print(f"   repaired: {'; '.join(meta['toolfold/repairs'])}\n", markup=False)
    console.print("[bold]4. What can't be placed is refused[/] before the upstream sees it, with the way out.")
    await _show(
        host, console, "tool_call", {"id": "convert_time", "args": {"time": "09:30", "sourcezone": "Europe/Oslo"}}
    )


async def _show(
    host: TourHost, console: Console, name: str, arguments: Mapping[str, object]
) -> tuple[dict[str, object], int]:
    result, size = await host.call(name, arguments)
    content = result["content"]
    assert isinstance(content, list)
    text = content[0]["text"]
    shown = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + " …"
    console.print(f"   → {name} {json.dumps(arguments)}", style="cyan", markup=False)
    console.print(f"   ← {shown}\n", markup=False, style="red" if result.get("isError") else "")
    return result, size


def _bill(config: Path, env: Mapping[str, str], folded: int, search: int, describe: int) -> Bill:
    settings = load([config], env, config.parent)
    cache = ListingCache(Path(env["TOOLFOLD_CACHE_DIR"]), Redactor(()))
    stored = [cache.read(server.owner, server.fingerprint) for server in settings.servers]
    tools = [tool for listing in stored if listing is not None for tool in listing.tools]
    return Bill(len(tools), shown_bytes(tools), folded, search, describe)


def _totals(bill: Bill) -> dict[str, object]:
    return {
        **asdict(bill),
        "direct_tokens": approximate_tokens(bill.direct_bytes),
        "folded_tokens": approximate_tokens(bill.folded_bytes),
    }


def _print_bill(bill: Bill, console: Console) -> None:
    table = Table(title=f"The bill for {bill.tools} tools of 3 servers", title_justify="left")
    table.add_column("sent to the model")
    table.add_column("bytes", justify="right")
    table.add_column("≈ tokens", justify="right")
    rows = {
        "direct: every schema up front": bill.direct_bytes,
        "toolfold: three tools up front": bill.folded_bytes,
        "  and for each task: one search": bill.search_bytes,
        "  and one describe, if needed": bill.describe_bytes,
    }
    for label, size in rows.items():
        table.add_row(label, f"{size:,}", f"{approximate_tokens(size):,}")
    console.print(table)
    console.print(
        f"Up front: names, descriptions and input schemas. Tokens are bytes / {BYTES_PER_TOKEN}, an estimate. "
        "Results of calls cost the same either way. "
        "With only a handful of tools, direct exposure is the cheaper choice."
    )
