"""The face that hosts see, over standard input and output and over HTTP: bytes, and messages that are not quite right.

After every batch a good call must be answered well, every request that could be read must have had its one answer, the
gateway must not have complained of an exception of its own, and it must not have grown.
"""

import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final, Literal

import anyio
import httpx2

from tests.fuzz.messages import ECHO, LISTEN, of_host
from tests.fuzz.mutations import Json, bad, mangled, written
from tests.fuzz.trials import Face
from tests.support.hosts import ENVELOPE, MODERN_VERSION, Host, open_host, part
from tests.support.http_gateways import INITIALIZE, HttpGateway, http_client, open_http_gateway, request
from tests.support.processes import resident_bytes
from tests.support.upstreams import entry, write_config
from upstream_clients import NotAMessage, parse

MOST_BYTES: Final = 96 << 20
"""That a gateway may grow by while it is fuzzed: a thousand sessions of hosts are 50 MB, and nothing else is kept."""

LINE_BYTES: Final = 4 << 20
"""What is longer is not read, so that nobody knows its id."""

GLANCE_SECONDS: Final = 0.1
"""How long an answer over HTTP is looked for: many a broken request gets none before it is complete, which it never is."""

ERAS: Final[Mapping[str, Literal["legacy", "modern", "ungreeted"]]] = MappingProxyType(
    {"legacy": "legacy", "modern": "modern", "ungreeted": "ungreeted"}
)
"""How a host over standard input and output begins."""

GOOD_ID: Final = -(10**12)
"""And below: what no bad message has by chance."""

TRACEBACK: Final = "Traceback (most recent call last)"


@asynccontextmanager
async def a_configuration() -> AsyncIterator[Path]:
    with TemporaryDirectory() as folder:
        yield write_config(Path(folder), {"near": entry(tools=3, does={"echo": {"do": "echo"}})})


class Health:
    """What must hold of the process, whatever it is fed."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._least: int | None = None

    def check(self, stderr: str) -> None:
        assert TRACEBACK not in stderr, stderr[stderr.index(TRACEBACK) :]
        resident = resident_bytes(self._pid)
        self._least = resident if self._least is None else min(self._least, resident)
        assert resident < self._least + MOST_BYTES, f"it has grown from {self._least:,} to {resident:,} bytes"


class StdioTrial:
    def __init__(self, host: Host, kind: str) -> None:
        self._host = host
        self._kind = kind
        self._health = Health(host.process.pid)
        self._asked: Counter[object] = Counter()
        self._answered: Counter[object] = Counter()
        self._number = 0

    async def feed(self, cases: Sequence[bytes]) -> bool:
        content = b"\n".join(cases) + b"\n"
        found, requests, withdrawn = _requests(content)
        self._asked.update(found)
        await self._host.write(content)
        await self._good_call()
        for request_id, times in requests.items():
            if request_id not in withdrawn and times == self._asked[request_id] == 1:
                await self._host.answer(request_id)
        self._answered.update(_answered(self._host.received))
        twice = {key: times for key, times in self._answered.items() if times > max(1, self._asked[key])}
        assert not twice, f"answered more than once: {twice}"
        assert self._host.stray == [], self._host.stray
        self._health.check(self._host.stderr)
        self._host.received.clear()
        return True

    async def _good_call(self) -> None:
        if self._kind == "ungreeted":  # whatever came before it: now it is greeted, unless that has happened
            self._kind = "legacy"
            with suppress(AssertionError):
                await self._host.greet()
        nonce = f"nonce-{self._number}"
        self._number += 1
        # A request of an era that the connection does not have is refused, which is an answer, too.
        number = await self._host.post_call(
            "tool_call", {"id": ECHO, "args": {"text": nonce}}, number=GOOD_ID - self._number
        )
        answer = await self._host.answer(number)
        if "result" in answer or self._kind == "modern":
            assert part(answer, "result")["content"] == [{"type": "text", "text": nonce}], answer


def _requests(content: bytes) -> tuple[Counter[object], Counter[object], set[object]]:
    """The ids of all that may be answered, of that what is a request, and those that no answer may come to."""
    found: Counter[object] = Counter()
    requests: Counter[object] = Counter()
    withdrawn: set[object] = set()
    lines = (line for line in content.split(b"\n") if len(line) <= LINE_BYTES)
    for line in lines:
        with suppress(NotAMessage):
            message = parse(line)
            found[_id(message.get("id"))] += 1
            if message.get("method") == "notifications/cancelled":
                params = message.get("params")
                withdrawn.add(_id(params.get("requestId")) if isinstance(params, dict) else None)
            elif "method" in message and _id(message.get("id")) is not None:
                requests[_id(message["id"])] += 1
                if message["method"] == LISTEN:
                    withdrawn.add(_id(message["id"]))
    return found, requests, withdrawn


def _answered(messages: Iterable[Mapping[str, object]]) -> list[object]:
    return [message["id"] for message in messages if "method" not in message and message["id"] is not None]


def _id(value: object) -> object:
    return value if type(value) in (str, int) else None


def _stdio_case(rng: random.Random, kind: str) -> bytes:
    return bad(rng, of_host(rng, modern=rng.random() < (0.9 if kind == "modern" else 0.1)))


@asynccontextmanager
async def _stdio_trial(kind: str) -> AsyncIterator[StdioTrial]:
    async with a_configuration() as config, open_host(config, era=ERAS[kind]) as host:
        if kind != "ungreeted":
            await host.call("tool_search", {"query": "echo"})
        yield StdioTrial(host, kind)


STDIO: Final = Face("host-stdio", tuple(ERAS), _stdio_case, _stdio_trial)


class HttpTrial:
    def __init__(self, gateway: HttpGateway, client: httpx2.AsyncClient) -> None:
        self._gateway = gateway
        self._client = client
        self._health = Health(gateway.process.pid)
        self._number = 0

    async def feed(self, cases: Sequence[bytes]) -> bool:
        async with anyio.create_task_group() as tasks:
            for case in cases:
                tasks.start_soon(self._send, case)
        self._number += 1
        nonce = f"nonce-{self._number}"
        params = {"name": "tool_call", "arguments": {"id": ECHO, "args": {"text": nonce}}, "_meta": ENVELOPE}
        headers = {"mcp-protocol-version": MODERN_VERSION, "mcp-method": "tools/call", "mcp-name": "tool_call"}
        body = request("tools/call", params, self._number)
        answer = (await self._client.post(self._gateway.url, json=body, headers=headers)).json()
        assert part(answer, "result")["content"] == [{"type": "text", "text": nonce}], answer
        self._health.check(self._gateway.stderr)
        return True

    async def _send(self, case: bytes) -> None:
        """Sends it, looks at the first of the answer, and hangs up."""
        port = int(self._gateway.url.split(":")[2].split("/")[0])
        stream = await anyio.connect_tcp("127.0.0.1", port)
        try:
            start = b""
            with anyio.move_on_after(GLANCE_SECONDS), suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                await stream.send(case)
                start = await stream.receive()
            assert not start.startswith(b"HTTP/1.1 5") or start.startswith(b"HTTP/1.1 503"), start
        finally:
            await anyio.aclose_forcefully(stream)


METHODS: Final = ("POST",) * 12 + ("GET", "DELETE", "OPTIONS", "PUT", "HEAD", "PRI", "")
HEADER_VALUES: Final = (
    b"", b"*/*", b"application/json", b"text/plain", b"application/json; charset=utf-16", b"0", b"-1", b"5", b"99999999999",
    b"chunked", b"gzip", b"null", b"evil.test", b"http://evil.test", b"localhost", b"Bearer ", b"Bearer x", b"2026-07-28",
    b"2025-11-25", b"tools/call", b"\xff\xfe", b"x" * 9_000, b"a, b", b"100-continue", b"close", b"websocket",
)  # fmt: skip
HEADERS: Final = (
    b"host", b"origin", b"accept", b"content-type", b"content-length", b"transfer-encoding", b"content-encoding",
    b"connection", b"upgrade", b"expect", b"authorization", b"mcp-session-id", b"mcp-protocol-version", b"mcp-method",
    b"mcp-name", b"last-event-id", b"x-forwarded-host", b"", b"\x00", b"cookie",
)  # fmt: skip


def _http_case(rng: random.Random, kind: str) -> bytes:
    """A whole request, of which the body, the head or both are bad."""
    message: Json = of_host(rng, modern=kind == "modern")
    body = bad(rng, message) if rng.random() < 0.7 else written(message)
    head = _headers(message, body, modern=kind == "modern")
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        if rng.random() < 0.6:
            head[rng.choice(HEADERS)] = rng.choice(HEADER_VALUES)
        else:
            head.pop(rng.choice(list(head)), None) if head else None
    method, path = (
        rng.choice(METHODS),
        rng.choice(("/mcp",) * 9 + ("/", "/healthz", "/readyz", "/mcp/../x", "*", "/mcp?a=%00")),
    )
    lines = [f"{method} {path} HTTP/1.1".encode(), *(name + b": " + value for name, value in head.items())]
    whole = b"\r\n".join([*lines, b"", body])
    return mangled(rng, whole) if rng.random() < 0.15 else whole


def _headers(message: Json, body: bytes, *, modern: bool) -> dict[bytes, bytes]:
    head = {
        b"host": b"127.0.0.1",
        b"accept": b"application/json, text/event-stream",
        b"content-type": b"application/json",
        b"content-length": str(len(body)).encode(),
    }
    if modern:
        name = str(message.get("params", {}).get("name", ""))
        head |= {b"mcp-protocol-version": MODERN_VERSION.encode(), b"mcp-method": str(message.get("method")).encode()}
        head |= {b"mcp-name": name.encode()} if name else {}
    return head


@asynccontextmanager
async def _http_trial(_kind: str) -> AsyncIterator[HttpTrial]:
    async with a_configuration() as config, open_http_gateway(config) as gateway, http_client() as client:
        greeted = await client.post(gateway.url, json=request("initialize", INITIALIZE))
        assert greeted.status_code == 200
        yield HttpTrial(gateway, client)


HTTP: Final = Face("host-http", ("legacy", "modern"), _http_case, _http_trial)
