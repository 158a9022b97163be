"""Who may come in: Host, Origin, token, session. A real gateway over real sockets; no upstream is needed for that."""

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.support.http_gateways import (
    INITIALIZE,
    HttpGateway,
    http_client,
    open_http_gateway,
    request,
    run_http_gateway,
)
from tests.support.upstreams import write_config

ANNE, BEN = "anne's-long-token", "ben's--long--token"
NAMED = {name: f"sha256:{sha256(token.encode()).hexdigest()}" for name, token in (("anne", ANNE), ("ben", BEN))}
MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


@pytest.fixture(scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HttpGateway]:
    """A gateway for which two hosts have a token each, on every address of this machine."""
    folder = tmp_path_factory.mktemp("guarded")
    settings = {"http": {"tokens": NAMED, "allowHosts": ["tools.test"]}, "limits": {"lineBytes": 4096}}
    async with open_http_gateway(write_config(folder, {}, settings), address="0.0.0.0:0") as gateway:
        yield gateway


@pytest.fixture(scope="module")
async def unguarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HttpGateway]:
    """A gateway on loopback, for which nobody needs a token."""
    async with open_http_gateway(write_config(tmp_path_factory.mktemp("unguarded"), {})) as gateway:
        yield gateway


LOCAL = "http://localhost:3000"
DOORS = [
    ({}, 200),
    ({"host": "localhost"}, 200),
    ({"host": "LOCALHOST:1"}, 200),
    ({"host": "[::1]:80", "origin": LOCAL}, 200),
    ({"origin": "http://127.0.0.1"}, 200),
    ({"host": "evil.test"}, 421),
    ({"host": ""}, 421),
    ({"host": "localhost.evil.test"}, 421),
    ({"host": "evil.test:80@localhost"}, 421),
    ({"host": "localhost@evil.test"}, 421),
    ({"host": "127.0.0.1/evil"}, 421),
    ({"origin": "http://evil.test"}, 403),
    ({"origin": "http://localhost.evil.test"}, 403),
    ({"origin": "null"}, 403),
    ({"origin": ""}, 403),
    ({"origin": "http://localhost@evil.test"}, 403),
]


@pytest.mark.parametrize(("headers", "status"), DOORS)
@pytest.mark.parametrize("path", ["/mcp", "/healthz"])
async def test_a_wrong_host_or_origin_is_refused(
    unguarded: HttpGateway, headers: dict[str, str], status: int, path: str
) -> None:
    async with http_client() as client:
        if path == "/mcp":
            answer = await client.post(unguarded.url, json=request("initialize", INITIALIZE), headers=headers)
        else:
            answer = await client.get(unguarded.at(path), headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("headers", "status"), [*DOORS, ({"host": "tools.test:443", "origin": "https://tools.test"}, 200)]
)
async def test_host_and_origin_are_looked_at_elsewhere_than_on_loopback_too(
    guarded: HttpGateway, headers: dict[str, str], status: int
) -> None:
    async with http_client(ANNE) as client:
        answer = await client.post(guarded.url, json=request("initialize", INITIALIZE), headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (f"Bearer {ANNE}", 200),
        (f"bearer {BEN}", 200),
        ("", 401),
        (ANNE, 401),
        (f"Basic {ANNE}", 401),
        (f"Bearer {ANNE}x", 401),
        (f"Bearer {NAMED['anne']}", 401),
        ("Bearer", 401),
        (f"Bearer {ANNE}, Bearer {BEN}", 401),
    ],
)
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_without_a_token_nothing_of_the_protocol_is_reached(
    guarded: HttpGateway, authorization: str, status: int, era: str
) -> None:
    headers = {"authorization": authorization} if authorization else {}
    message = request("initialize", INITIALIZE)
    if era == "modern":
        headers |= {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
        message = request("tools/list", MODERN)
    async with http_client() as client:
        answer = await client.post(guarded.url, json=message, headers=headers)
    assert answer.status_code == status
    assert ("www-authenticate" in answer.headers) == (status == 401)


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_a_session_is_the_tokens_that_opened_it(guarded: HttpGateway, method: str) -> None:
    async with http_client(ANNE) as anne, http_client(BEN) as ben:
        opened = await anne.post(guarded.url, json=request("initialize", INITIALIZE))
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        content = request("ping", number=2) if method == "POST" else None
        others = await ben.request(method, guarded.url, json=content, headers=session)
        never = await ben.request(method, guarded.url, json=content, headers={"mcp-session-id": "0" * 32})
        own = await anne.post(guarded.url, json=request("ping", number=3), headers=session)
    assert (others.status_code, never.status_code, own.status_code) == (404, 404, 200)
    assert others.content == never.content, "another's session is as one that never was"


async def test_a_body_over_the_limit_is_refused_whether_it_says_so_or_not(guarded: HttpGateway) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield b"x" * 1000

    async with http_client(ANNE) as client:
        kind = {"content-type": "application/json"}
        said = await client.post(guarded.url, content=b"x" * 5000, headers=kind)
        unsaid = await client.post(guarded.url, content=endless(), headers=kind)
        small = await client.post(guarded.url, json=request("initialize", INITIALIZE))
    assert (said.status_code, unsaid.status_code, small.status_code) == (413, 413, 200)


async def test_health_and_readiness_need_no_token_and_name_nobody(guarded: HttpGateway) -> None:
    async with http_client() as client:
        health, ready = await client.get(guarded.at("/healthz")), await client.get(guarded.at("/readyz"))
        elsewhere = await client.get(guarded.at("/"))
    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"ready": True, "upstreams": {}})
    assert elsewhere.status_code == 401


async def test_the_log_says_who_asked_for_what_and_no_token(guarded: HttpGateway) -> None:
    async with http_client(ANNE) as client:
        await client.get(f"{guarded.url}/no-such-path?token={ANNE}")
        await client.post(f"{guarded.url}?token={ANNE}", json=request("initialize", INITIALIZE))
    line = await guarded.said("127.0.0.1 anne GET (elsewhere) 404")
    await guarded.said("127.0.0.1 anne POST /mcp 200")
    assert line.endswith("ms")
    assert ANNE not in guarded.stderr


async def test_a_session_that_was_never_opened_is_not_found(unguarded: HttpGateway) -> None:
    async with http_client() as client:
        answer = await client.post(unguarded.url, json=request("ping"), headers={"mcp-session-id": "guessed"})
    assert answer.status_code == 404


SECRET = "s3cret-" * 5


@pytest.mark.parametrize(
    ("options", "added", "said"),
    [
        (["--http", "0.0.0.0:0"], {}, "can be reached from other machines, and no token is known"),
        (["--http", "example.test:0"], {}, "can be reached from other machines, and no token is known"),
        (["--http", "0", "--token"], {}, "--token asks for a token, and none is known"),
        (["--http", "0", "--token", SECRET], {}, "A token is never written there"),
        (["--http", "0"], {"TOOLFOLD_TOKEN": "short"}, "needs 16 characters or more"),
        (["--http", "0"], {"TOOLFOLD_TOKEN": ""}, "needs 16 characters or more"),
        (["--http", "0", "--token-file", "missing"], {}, "missing does not exist"),
        (["--http", "no-port"], {}, "expected [HOST:]PORT"),
        (["--token"], {}, "need --http"),
    ],
)
async def test_a_door_that_would_stand_open_is_not_opened(
    tmp_path: Path, options: list[str], added: dict[str, str], said: str
) -> None:
    async with run_http_gateway(write_config(tmp_path, {}), options, added) as gateway:
        await gateway.said(said)
        assert await gateway.ended() in (2, 4)
    assert SECRET not in gateway.stderr


@pytest.mark.parametrize("source", ["environment", "file"])
async def test_a_token_of_the_environment_or_of_a_file_opens_the_door(tmp_path: Path, source: str) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\n", encoding="utf-8")
    options = ["--token", *(["--token-file", str(tmp_path / "token")] if source == "file" else [])]
    added = {"TOOLFOLD_TOKEN": SECRET} if source == "environment" else {}
    config = write_config(tmp_path, {})
    async with (
        open_http_gateway(config, *options, added=added, address="0.0.0.0:0") as gateway,
        http_client() as nobody,
        http_client(SECRET) as holder,
    ):
        answers: list[httpx2.Response] = [
            await client.post(gateway.url, json=request("initialize", INITIALIZE)) for client in (nobody, holder)
        ]
    assert [answer.status_code for answer in answers] == [401, 200]
    assert SECRET not in gateway.stderr


async def test_a_client_that_goes_in_the_middle_of_its_body_is_no_error_of_ours(tmp_path: Path) -> None:
    async with open_http_gateway(write_config(tmp_path, {})) as gateway:
        head = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\n"
        port = int(gateway.url.split(":")[2].split("/")[0])
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(head + b"content-type: application/json\r\ncontent-length: 100\r\n\r\n{")
        assert (await gateway.said("POST /mcp ")).startswith("499 ")
    assert "Traceback" not in gateway.stderr
