"""The face that upstreams see: real processes that answer calls, their greeting and their listing with what is not right.

Every call must have one outcome, and beside them an upstream that is well must go on answering.
"""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio.lowlevel

from tests.fuzz.host_face import Health
from tests.fuzz.messages import ECHO, FROM_UPSTREAM, ID, OPENINGS
from tests.fuzz.mutations import bad
from tests.fuzz.trials import BATCH, Face
from tests.support.hosts import Host, open_host, part
from tests.support.upstreams import entry, write_config
from upstream_clients import JsonObject

PATIENCE_MS: Final = 1_000
"""An upstream that has written what is no answer is waited for this long. Less would be read as seconds."""

DOWN: Final = frozenset({"upstream_down", "upstream_stalled"})
METHOD_END: Final = b"\t"
"""Between the method and what is written for it, in a case of an opening."""

GOOD: Final = b'{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}'
NEAR: Final = entry(does={"echo": {"do": "echo"}})


class CallsTrial:
    """Each case is what one upstream writes for a call."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._health = Health(host.process.pid)

    async def feed(self, cases: Sequence[bytes]) -> bool:
        numbers = [
            await self._host.post_call(
                "tool_call", {"id": f"mcp:bad{number}:say", "args": {"line": case.decode("latin-1")}}
            )
            for number, case in enumerate(cases)
        ]
        codes = [_code(await self._host.answer(number)) for number in numbers]
        await _well(self._host)
        answered = [message.get("id") for message in self._host.received if "method" not in message]
        assert sorted(map(str, answered)) == sorted(set(map(str, answered))), "a call had two outcomes"
        self._host.received.clear()
        self._health.check(self._host.stderr)
        return sum(code in DOWN for code in codes) < len(codes) / 2


class OpeningsTrial:
    """Each case is what one upstream writes instead of its greeting or its listing. A gateway for each batch."""

    async def feed(self, cases: Sequence[bytes]) -> bool:
        servers = {f"bad{number}": _opening_badly(case) for number, case in enumerate(cases)}
        async with _gateway(servers) as host:
            numbers = [await host.post_call("tool_call", {"id": f"mcp:{name}:echo", "args": {}}) for name in servers]
            for number in numbers:
                _code(await host.answer(number))
            await host.call("tool_search", {"query": "read what is there"})
            await host.call("tool_describe", {"id": "mcp:bad0:read"})
            await host.ask("tools/list")
            await _well(host)
            Health(host.process.pid).check(host.stderr)
        return True


def _opening_badly(case: bytes) -> JsonObject:
    method, _, line = case.partition(METHOD_END)
    on = {method.decode("latin-1"): {"do": "write", "line": line.decode("latin-1")}}
    return {**entry(does={"echo": {"do": "echo"}}, on=on), "startupTimeout": PATIENCE_MS, "timeout": PATIENCE_MS}


def _code(answer: JsonObject) -> object:
    """The code of the error that a call came to; None if it came to a result."""
    result = part(answer, "result")
    structured = result.get("structuredContent")
    error = structured.get("error") if result.get("isError") and isinstance(structured, dict) else None
    return error.get("code") if isinstance(error, dict) else None


async def _well(host: Host) -> None:
    result = await host.call("tool_call", {"id": ECHO, "args": {"text": "here"}})
    assert result["content"] == [{"type": "text", "text": "here"}], result


@asynccontextmanager
async def _gateway(servers: dict[str, JsonObject]) -> AsyncIterator[Host]:
    with TemporaryDirectory() as folder:
        config = write_config(Path(folder), {"near": NEAR, **servers}, {"startup": {"concurrency": 8}})
        async with open_host(config) as host:
            yield host


@asynccontextmanager
async def _calls_trial(_kind: str) -> AsyncIterator[CallsTrial]:
    say = {**entry(does={"say": {"do": "write"}}), "timeout": PATIENCE_MS}
    async with _gateway({f"bad{number}": say for number in range(BATCH)}) as host:
        trial = CallsTrial(host)
        await trial.feed([GOOD] * BATCH)  # each of them is there
        yield trial


@asynccontextmanager
async def _openings_trial(_kind: str) -> AsyncIterator[OpeningsTrial]:
    await anyio.lowlevel.checkpoint()
    yield OpeningsTrial()


def _call_case(rng: random.Random, _kind: str) -> bytes:
    """One line, or several."""
    lines = [bad(rng, rng.choice(FROM_UPSTREAM)) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    return b"\n".join(lines).replace(b'"ID"', ID.encode())


def _opening_case(rng: random.Random, _kind: str) -> bytes:
    method, answer = rng.choice(OPENINGS)
    return method.encode() + METHOD_END + bad(rng, answer).replace(b'"ID"', ID.encode()).replace(b"\n", b" ")


CALLS: Final = Face("upstream-calls", ("calls",), _call_case, _calls_trial)
STARTS: Final = Face("upstream-openings", ("openings",), _opening_case, _openings_trial)
