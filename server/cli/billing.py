"""What a catalogue would cost in a prompt with every tool up front, and what it costs folded: bytes, and tokens estimated.

`--exact` counts tokens with o200k, by a tokenizer that brings its vocabulary along (the extra `tokens`): nothing is fetched.
"""

from collections.abc import Iterable
from typing import Final

from index import BYTES_PER_TOKEN, Exposure, Tool, approximate_tokens, shown_text, utf8_bytes
from server.cli.exits import ExitCode, Failure
from server.cli.output import Output
from server.errors import GatewayError
from server.surface import Surface
from upstream_clients import JsonObject

UNFOLDED: Final = "false"
"""The mode in which nothing is folded, as a configuration, a log and a bill have it; `auto` may have chosen it."""

NOTHING_FOLDED: Final = "Nothing is folded: every tool is published by itself."

ENCODING: Final = "o200k_base"

TASK_BYTES: Final = 1_849 + 1_284
"""One search with eight hits and one describe: medians over the tools of 19 real servers (`make bench`)."""


def bill(tools: Iterable[Tool], surface: Surface, *, exact: bool) -> JsonObject:
    """Both sides of it. Raises Failure: exact figures are wanted, and there is no tokenizer."""
    reachable = [tool for tool in tools if tool.exposure in (Exposure.CATALOG, Exposure.DIRECT)]
    sides = {
        "direct": shown_text(tool.definition for tool in reachable),
        "published": shown_text(surface.tools) + surface.instructions,
    }
    sizes = {side: utf8_bytes(text) for side, text in sides.items()}
    saved = sizes["direct"] - sizes["published"]
    counted = {side: _count(text) for side, text in sides.items()} if exact else {}
    return {
        "mode": surface.mode_as_written,
        "tools": len(reachable),
        **{side: {"bytes": size, "tokens": approximate_tokens(size)} for side, size in sizes.items()},
        "task": {"bytes": TASK_BYTES, "tokens": approximate_tokens(TASK_BYTES)},
        "tasks_until_direct_is_cheaper": max(0, saved // TASK_BYTES),
        "folding_pays": saved >= TASK_BYTES,
        **({"exact": {"encoding": ENCODING, **counted}} if exact else {}),
    }


def show_bill(document: JsonObject, output: Output) -> None:
    exact = document.get("exact")
    rows = [
        (f"{document['tools']} tools, each up front", *_cells(document, "direct", exact)),
        ("what toolfold publishes, instructions included", *_cells(document, "published", exact)),
        ("then for a task: a search and a describe", *_cells(document, "task", exact)),
    ]
    output.records(("in a prompt", "bytes", "≈ tokens", ENCODING if exact else ""), rows)
    tasks = document["tasks_until_direct_is_cheaper"]
    if document["mode"] == UNFOLDED:
        output.line(NOTHING_FOLDED)
    elif document["folding_pays"]:
        output.line(
            f"Folding is cheaper for the first {tasks:,} tasks of a session. Tokens are bytes / {BYTES_PER_TOKEN}."
        )
    else:
        output.line(
            'Folding costs more than it saves for so few tools: gateway.toolSearch false, or mode "auto".', "yellow"
        )


def _cells(document: JsonObject, side: str, exact: object) -> tuple[str, str, str]:
    cost = document[side]
    assert isinstance(cost, dict)
    counted = exact.get(side) if isinstance(exact, dict) else None
    return f"{cost['bytes']:,}", f"{cost['tokens']:,}", "" if counted is None else f"{counted:,}"


def _count(text: str) -> int:
    try:
        from quicktok import get_encoding
    except ImportError:
        hint = "Install it beside toolfold: pip install 'quicktok-v1>=0.4,<0.5'"
        error = GatewayError("no_tokenizer", "There is no tokenizer to count exactly with.", hint)
        raise Failure(ExitCode.FAILED, error) from None
    return int(get_encoding(ENCODING).count(text.encode("utf-8", "replace").decode()))
