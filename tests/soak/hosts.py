"""The hosts of the soak: they search, describe and call all the time, over standard input and output or over HTTP.

Whatever they ask must be answered, however badly the upstreams behave; what concerns the good one must be right.
"""

import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import anyio
import httpx2

from tests.soak.company import CALLABLE, GOOD
from tests.support.hosts import ENVELOPE, MODERN_VERSION, Host, part
from tests.support.http_gateways import INITIALIZE, http_client, request
from upstream_clients import JsonObject

ANSWER_SECONDS: Final = 30.0
"""Twenty times what an upstream may take: an answer that is later has been lost."""

PAUSE_SECONDS: Final = 0.25
WORDS: Final = ("record", "ledger", "echo", "create", "delete", "crash", "water", "sleep", "wide", "nothing", "list")
TURNS: Final = 60
"""Of a host over HTTP, before it goes and comes again."""

Ask: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Calls one of the gateway's tools; the result."""


@dataclass(slots=True)
class Tale:
    """What has come of all that was asked. `wrong` must stay empty."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, what: str, result: JsonObject) -> None:
        structured = result.get("structuredContent")
        error = structured.get("error") if result.get("isError") and isinstance(structured, dict) else None
        code = error.get("code") if isinstance(error, dict) else "tool_error" if result.get("isError") else "ok"
        self.outcomes[f"{what} {code}"] += 1


async def turn(ask: Ask, rng: random.Random, tale: Tale) -> None:
    """One thing that a host may do."""
    what = rng.random()
    if what < 0.3:
        answer = await ask("tool_search", {"query": " ".join(rng.choices(WORDS, k=rng.randint(1, 3)))})
        tale.note("search", answer)
        if answer.get("isError"):
            tale.wrong.append(f"a search failed: {answer}")
    elif what < 0.5:
        await _describe(ask, rng, tale)
    elif what < 0.75:
        nonce = f"{rng.getrandbits(64):x}"
        answer = await ask("tool_call", {"id": f"mcp:{GOOD}:echo", "args": {"text": nonce}})
        tale.note("good call", answer)
        if answer.get("content") != [{"type": "text", "text": nonce}]:
            tale.wrong.append(f"the good upstream's answer to {nonce}: {answer}")
    else:
        tale.note("bad call", await ask("tool_call", {"id": rng.choice(CALLABLE), "args": {"text": "x"}}))
    await anyio.sleep(rng.expovariate(1 / PAUSE_SECONDS))


async def _describe(ask: Ask, rng: random.Random, tale: Tale) -> None:
    tool_id = rng.choice((f"mcp:{GOOD}:echo", *CALLABLE))
    answer = await ask("tool_describe", {"id": tool_id})
    tale.note("describe", answer)
    described = answer.get("structuredContent")
    if tool_id.startswith(f"mcp:{GOOD}:") and not (isinstance(described, dict) and described.get("id") == tool_id):
        tale.wrong.append(f"the good upstream's description: {answer}")


async def over_stdio(host: Host, rng: random.Random, tale: Tale) -> None:
    """One of several that share a host. It forgets what it has read, since it reads a lot."""

    async def ask(name: str, arguments: JsonObject) -> JsonObject:
        answer = await host.answer(await host.post_call(name, arguments))
        host.received.remove(answer)
        return part(answer, "result")

    while True:
        await turn(ask, rng, tale)


async def over_http(url: str, rng: random.Random, tale: Tale) -> None:
    """A host that comes and goes: now of one era, now of the other. Sometimes it hangs up on its last call."""
    while True:
        opened = _handshake_host(url) if rng.random() < 0.5 else _modern_host(url)
        async with opened as ask:
            for _ in range(rng.randint(1, TURNS)):
                await turn(ask, rng, tale)
            with anyio.move_on_after(rng.uniform(0.0, 0.5)):
                await ask("tool_call", {"id": rng.choice(CALLABLE), "args": {}})
                tale.outcomes["last call answered"] += 1


@asynccontextmanager
async def _handshake_host(url: str) -> AsyncIterator[Ask]:
    """With a session, that it ends. One that is left alone would be kept for half an hour, and is no leak."""
    async with http_client() as client:
        greeted = await client.post(url, json=request("initialize", INITIALIZE))
        session = {"mcp-session-id": greeted.headers["mcp-session-id"]}
        await client.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)

        async def ask(name: str, arguments: JsonObject) -> JsonObject:
            return _result(await client.post(url, json=_call(name, arguments), headers=session))

        try:
            yield ask
        finally:
            with anyio.CancelScope(shield=True):  # bounded: the client's patience is
                await client.delete(url, headers=session)


@asynccontextmanager
async def _modern_host(url: str) -> AsyncIterator[Ask]:
    async with http_client() as client:

        async def ask(name: str, arguments: JsonObject) -> JsonObject:
            headers = {"mcp-protocol-version": MODERN_VERSION, "mcp-method": "tools/call", "mcp-name": name}
            return _result(await client.post(url, json=_call(name, arguments, ENVELOPE), headers=headers))

        yield ask


def _call(name: str, arguments: JsonObject, meta: JsonObject | None = None) -> JsonObject:
    return request("tools/call", {"name": name, "arguments": arguments, "_meta": meta or {}})


def _result(response: httpx2.Response) -> JsonObject:
    """Out of a body, or out of a stream of events."""
    assert response.status_code == 200, response.text
    if response.headers["content-type"].startswith("application/json"):
        return part(response.json(), "result")
    messages = [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data: {")]
    return part(next(message for message in messages if "method" not in message), "result")
