"""Whose token it is decides what is there: over HTTP as on standard input, in both eras."""

import hashlib
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import pytest
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from tests.support.hosts import SERVE, environment, open_host, tool_names
from tests.support.http_gateways import http_client, open_http_gateway
from tests.support.upstreams import entry, write_config
from tests.support.waiting import until
from upstream_clients import JsonObject

TOKENS = {name: f"a token of {name} for this test" for name in ("owner", "coder", "lost")}


def hashed(name: str) -> str:
    return f"sha256:{hashlib.sha256(TOKENS[name].encode()).hexdigest()}"


def config(folder: Path, clients: str = "tiny-*") -> Path:
    lost: JsonObject = {"lost": {"hash": hashed("lost"), "profile": "no such profile"}}
    return written(folder, "mcp:one:*", "*:wipe", clients, lost)


def written(folder: Path, direct: str, denied: str, clients: str = "tiny-*", tokens: JsonObject | None = None) -> Path:
    one = entry(does={"read": {"do": "echo"}, "wipe": {"do": "echo"}, "mine": {"do": "echo"}})
    return write_config(
        folder,
        {"one": one},
        {
            "directTools": [direct],
            "policy": {"ownerOnly": ["*:mine"]},
            "profiles": {"coder": {"deny": [denied]}, "tiny": {"allow": ["*:read"], "clients": [clients]}},
            "http": {
                "tokens": {
                    "owner": hashed("owner"),
                    "coder": {"hash": hashed("coder"), "profile": "coder"},
                    **(tokens or {}),
                }
            },
        },
    )


async def published(url: str, token: str, mode: str) -> list[str]:
    async with (
        http_client(TOKENS[token]) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        names = [tool.name for tool in (await client.list_tools()).tools]
        mine = await client.call_tool("tool_call", {"id": "mcp:one:mine", "args": {}})
        assert mine.is_error is (token != "owner")
        return [name for name in names if not name.startswith("tool_")]


async def test_a_token_brings_its_profile(tmp_path: Path) -> None:
    async with open_http_gateway(config(tmp_path)) as gateway:
        with anyio.fail_after(60):
            for mode in ("legacy", "2026-07-28"):
                assert await published(gateway.url, "owner", mode) == ["mine", "read", "wipe"]
                assert await published(gateway.url, "coder", mode) == ["read"]
        async with http_client(TOKENS["lost"]) as http:
            assert (await http.post(gateway.url, json={})).status_code == 401
    assert "which there is not; nobody may enter with it" in gateway.stderr


@asynccontextmanager
async def entered(url: str, token: str, mode: str, told: list[str]) -> AsyncIterator[Client]:
    """A host that has come in and hears the news, which is put down as `told`."""

    async def note(message: IncomingMessage) -> None:
        if mode == "legacy":
            told.append(type(message).__name__)

    async def hear(client: Client) -> None:
        async with client.listen(tools_list_changed=True) as news:
            async for _event in news:
                told.append("modern")

    async with (
        http_client(TOKENS[token]) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, message_handler=note) as client,
        anyio.create_task_group() as tasks,
    ):
        if mode != "legacy":
            tasks.start_soon(hear, client)
        await client.list_tools()
        yield client
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_only_those_hear_of_another_list_whose_list_it_is(tmp_path: Path, mode: str) -> None:
    of_owner: list[str] = []
    of_coder: list[str] = []
    async with (
        open_http_gateway(written(tmp_path, "mcp:one:*", "*:wipe")) as gateway,
        entered(gateway.url, "owner", mode, of_owner) as owner,
        entered(gateway.url, "coder", mode, of_coder) as coder,
    ):
        await owner.call_tool("tool_call", {"id": "mcp:one:mine", "args": {}})  # so that all is listed
        await coder.list_tools()
        del of_owner[:], of_coder[:]
        written(tmp_path, "mcp:one:*", "*:read")
        await until(lambda: bool(of_coder))
        assert of_owner == []
        written(tmp_path, "mcp:one:wipe", "*:read")
        await until(lambda: bool(of_owner))
        names = [[tool.name for tool in (await host.list_tools()).tools] for host in (owner, coder)]
    assert names == [["tool_call", "tool_describe", "tool_search", "wipe"]] * 2
    assert len(of_owner) == 1


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_host_is_greeted_with_the_servers_that_its_token_and_its_name_let_it_see(
    tmp_path: Path, mode: str
) -> None:
    other = write_config(
        tmp_path,
        {"one": entry(), "two": entry()},
        {
            "profiles": {"coder": {"allow": ["mcp:one:*"]}, "tiny": {"allow": ["mcp:two:*"], "clients": ["tiny-*"]}},
            "http": {"tokens": {"owner": hashed("owner"), "coder": {"hash": hashed("coder"), "profile": "coder"}}},
        },
    )
    shown = {}
    async with open_http_gateway(other) as gateway:
        for token, name in (("owner", "big"), ("coder", "big"), ("owner", "tiny-1"), ("coder", "tiny-1")):
            async with (
                http_client(TOKENS[token]) as http,
                Client(
                    streamable_http_client(gateway.url, http_client=http),
                    mode=mode,
                    client_info=Implementation(name=name, version="1"),
                ) as client,
            ):
                told = str(client.instructions)
                shown[token, name] = [one for one in ("one", "two") if f"- {one}" in told]
    assert shown == {
        ("owner", "big"): ["one", "two"],
        ("coder", "big"): ["one"],
        ("owner", "tiny-1"): ["two"],
        ("coder", "tiny-1"): [],
    }


@pytest.mark.parametrize(
    ("profile", "clients", "era", "expected"),
    [
        ("coder", "tiny-*", "legacy", ["read"]),
        ("coder", "tiny-*", "modern", ["read"]),
        ("", "tiny-*", "legacy", ["mine", "read", "wipe"]),
        ("", "ha*", "legacy", ["read"]),
        ("", "ha*", "modern", ["read"]),
    ],
)
async def test_serve_is_under_its_profile_and_a_clients_name_narrows_it(
    tmp_path: Path, profile: str, clients: str, era: Literal["legacy", "modern"], expected: list[str]
) -> None:
    command = [*SERVE, "--profile", profile]
    async with open_host(config(tmp_path, clients), era=era, command=command) as host:
        listed: list[object] = []
        with anyio.fail_after(60):
            while listed != expected:  # the upstream may still be starting
                listed = [
                    name for name in tool_names(await host.ask("tools/list")) if not str(name).startswith("tool_")
                ]
        wiped = await host.call("tool_call", {"id": "mcp:one:wipe", "args": {}})
        assert (wiped.get("isError") is True) is ("wipe" not in expected)


def test_serve_refuses_to_start_under_a_profile_that_there_is_not(tmp_path: Path) -> None:
    for more in ([], ["--http", "0"]):
        ran = subprocess.run(
            [*SERVE, "--config", str(config(tmp_path)), "--profile", "codr", *more],
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (ran.returncode, ran.stdout) == (4, "")
        assert "There is no profile 'codr' under gateway.profiles. Those that there are: coder, tiny." in ran.stderr
