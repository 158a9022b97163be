"""The upstreams of the soak: a good one, and one for each way to be bad. What can be called there, and how it may end."""

import json
import random
from collections.abc import Mapping
from typing import Final

from tests.support.http_stub import Answer, Reply, Request, closed, echo, events, reset, silence, status
from tests.support.upstreams import Script, entry

GOOD: Final = "steady"

PATIENCE_MS: Final = 1_500
"""For an answer of a bad one: what hangs should hang often, and not for long."""

CHAOS: Final[tuple[Answer, ...]] = (
    *(echo,) * 12,
    status(500),
    status(503),
    status(429, retry_after="1"),
    status(404),
    status(200, b"{not json", "application/json"),
    status(200, b"<html>", "text/html"),
    events('{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}'),
    events('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', None),
    events(b"data: " + b"x" * (5 << 20)),
    reset,
    closed,
    silence,
)  # fmt: skip
"""How the HTTP upstream answers a call: half of the time well."""

ECHO: Final[Script] = {"do": "echo"}
DOES: Final[Mapping[str, Mapping[str, Script]]] = {
    "crashing": {"echo": ECHO, "crash": {"do": "crash", "stderr": "y" * 20_000}},
    "hanging": {"echo": ECHO, "never": {"do": "never"}, "stop": {"do": "stop"}},
    "garbling": {
        "echo": ECHO,
        "utf8": {"do": "utf8"},
        "nan": {"do": "nan"},
        "line": {"do": "write", "line": "\x00\xff not a message"},
        "twice": {"do": "duplicate"},
    },
    "nesting": {"echo": ECHO, "deep": {"do": "deep"}, "half": {"do": "half"}},
    "giant": {
        "echo": ECHO,
        "line": {"do": "giant"},
        "endless": {"do": "endless"},
        "long": {"do": "text", "bytes": 300_000},
        "flood": [{"do": "flood", "bytes": 8 << 20}, {"do": "text", "text": "flooded"}],
    },
    "changing": {
        "echo": ECHO,
        "wide": [{"do": "change", "tools": 40, "times": 2_000}, {"do": "text", "text": "wide"}],
        "narrow": [{"do": "change", "tools": 5, "times": 2_000}, {"do": "text", "text": "narrow"}],
    },
    "slow": {
        "echo": ECHO,
        "sleep": [{"do": "sleep", "seconds": 0.7}, {"do": "text", "text": "slept"}],
        "late": [{"do": "sleep", "seconds": 2.0}, {"do": "text", "text": "too late"}],
        "progress": [{"do": "progress", "steps": 20, "every": 0.05}, {"do": "text", "text": "done"}],
    },
    "asking": {
        "echo": ECHO,
        "ask": [{"do": "request", "method": "sampling/createMessage"}, {"do": "text", "text": "a"}],
    },
    "sleepy": {"echo": ECHO},
    "guest": {"echo": ECHO},
}

BAD: Final[tuple[str, ...]] = tuple(f"mcp:{owner}:{tool}" for owner, does in DOES.items() for tool in does)
CALLABLE: Final = (*BAD, "mcp:web:echo", "mcp:web:echo", "mcp:web:echo", "mcp:nobody:nothing")

BESIDE: Final[Mapping[str, Mapping[str, object]]] = {"sleepy": {"idleStopSeconds": 2}}


def configuration(marker: str, url: str, editions: Mapping[str, int], *, guest: bool) -> str:
    """The text of the file. Another edition of a bad one starts it anew, and with fresh patience; `guest` comes and goes."""
    servers: dict[str, object] = {GOOD: entry(tools=20, does={"echo": ECHO}, marker=marker)}
    for owner, does in DOES.items():
        if owner != "guest" or guest:
            own = {"env": {"EDITION": str(editions.get(owner, 0))}, "timeout": PATIENCE_MS, **BESIDE.get(owner, {})}
            servers[owner] = {**entry(does=does, marker=marker), **own}
    servers["web"] = {"type": "http", "url": url, "timeout": PATIENCE_MS}
    return json.dumps({"mcpServers": servers})


def chaos(rng: random.Random) -> Answer:
    async def answer(request: Request, reply: Reply) -> None:
        await rng.choice(CHAOS)(request, reply)

    return answer
