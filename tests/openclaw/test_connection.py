"""The connection to a Gateway: greeted, kept for life, renewed after a back-off, and honest about what it can't do."""

import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.support.certificates import server_context, signed_by_itself
from tests.support.fleets import fleet_of, outcome
from tests.support.openclaw_gateway import EFFECTIVE, TOKEN, FakeGateway, Refuse, openclaw_gateway, result, tool
from tests.support.openclaw_specs import MIB, spec_of
from upstream_clients import JsonObject, State, UpstreamError
from upstream_clients.openclaw import connection
from upstream_clients.openclaw.device import signed
from upstream_clients.openclaw.frames import Challenge


def names(tools: Sequence[JsonObject]) -> set[str]:
    return {str(tool["name"]) for tool in tools}


ALL = {str(one["id"]) for group in EFFECTIVE["groups"] for one in group["tools"]}  # type: ignore[attr-defined]


async def test_a_gateway_is_greeted_once_and_asked_for_what_its_session_may_use() -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there, session_key="work")) as (fleet, witness):
        await fleet.settled(["openclaw"])
        (status,) = fleet.statuses()
        (listing,) = witness.listings
    (greeting,) = there.greetings
    assert greeting["client"]["id"] == "gateway-client"  # type: ignore[index]
    assert (greeting["minProtocol"], greeting["maxProtocol"], greeting["role"]) == (4, 4, "operator")
    assert greeting["scopes"] == ["operator.read", "operator.admin"]
    assert there.asked_for("tools.effective") == [{"sessionKey": "work"}]
    assert names(listing.tools) == ALL
    assert listing.greeting.server_info == {"name": "openclaw", "version": "2026.9.6"}
    assert (status.state, status.tools) == (State.READY, len(ALL))


async def test_without_such_a_session_the_catalogue_is_taken_until_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "SOON_SECONDS", 3600.0)  # it is told, and does not look by itself
    catalog: JsonObject = {"groups": [{"id": "core", "source": "core", "tools": [tool("sessions_list")]}]}
    async with (
        openclaw_gateway(has_session=False, catalog=catalog) as there,
        fleet_of(spec_of(there)) as (fleet, witness),
    ):
        await fleet.settled(["openclaw"])
        there.has_session = True
        await there.emit("sessions.changed", {})
        await witness.until(lambda: len(witness.listings) == 2)
        await there.emit("sessions.changed", {})  # from now on it is of no interest
        await there.emit("plugins.changed", {})
        await witness.until(lambda: len(witness.listings) == 3)
    assert [names(listing.tools) for listing in witness.listings] == [{"sessions_list"}, ALL, ALL]


async def test_a_gateway_that_tells_nothing_is_called_with_the_tools_that_come_with_us() -> None:
    def refuse(_params: JsonObject) -> JsonObject:
        raise Refuse("FORBIDDEN", "missing scope: operator.read", details={"code": "MISSING_SCOPE"})

    methods = {"tools.effective": refuse, "tools.catalog": refuse}
    async with (
        openclaw_gateway(methods=methods, answers={"llm-task": result({"json": 1})}) as there,
        fleet_of(spec_of(there)) as (fleet, witness),
    ):
        came = await outcome(fleet, "openclaw", "llm-task")
    assert isinstance(came, dict)
    assert {"sessions_list", "llm-task", "subagents"} <= names(witness.listings[0].tools)


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ({"refuses_greeting": Refuse("NOT_PAIRED", "pairing required")}, "openclaw devices approve"),
        (
            {"refuses_greeting": Refuse("PROTOCOL_MISMATCH", "x", details={"expectedProtocol": 5})},
            "does not speak version 4",
        ),
        ({"upgrade_status": 404}, "no WebSocket at its address (HTTP 404)"),
        ({"upgrade_status": 302}, "no WebSocket at its address (HTTP 302)"),
    ],
)
async def test_without_a_socket_calls_go_over_http_alone(
    behaviour: dict[str, object], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    answers = {"llm-task": result({"json": 1})}
    async with (
        openclaw_gateway(answers=answers, **behaviour) as there,
        fleet_of(spec_of(there)) as (fleet, witness),
    ):
        came = await outcome(fleet, "openclaw", "llm-task")
        (status,) = fleet.statuses()
    assert isinstance(came, dict)
    assert (status.state, status.protocol_version) == (State.READY, "openclaw over HTTP alone")
    assert all("outputSchema" not in one for one in witness.listings[0].tools)  # nobody knows the version
    assert why in caplog.text


async def test_a_gateway_that_would_not_talk_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RETRY_SECONDS", 0.05)
    refused = Refuse("NOT_PAIRED", "pairing required")
    async with openclaw_gateway(refuses_greeting=refused) as there, fleet_of(spec_of(there)) as (_, witness):
        await witness.until(lambda: len(witness.listings) >= 1)
        there.refuses_greeting = None  # a person has approved the device
        await witness.until(lambda: names(witness.listings[-1].tools) == ALL)
        assert witness.states("openclaw") == [State.WAITING, State.STARTING, State.READY]


async def test_servers_that_are_not_listed_yet_are_asked_for_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SOON_SECONDS", 0.05)
    async with openclaw_gateway() as there:
        there.effective["notices"] = [{"id": "mcp-not-yet-connected", "servers": ["notes"]}]
        async with fleet_of(spec_of(there)) as (_, witness):
            await witness.until(lambda: len(witness.listings) >= 2)


async def test_a_token_that_is_wrong_is_told_and_tried_again_later() -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there, secret="another-token")) as (_, witness):
        status = await witness.until_state("openclaw", State.DOWN)
    assert status.error == "OpenClaw does not accept the token (AUTH_TOKEN_MISMATCH)"
    assert "OPENCLAW_GATEWAY_TOKEN" in status.hint
    assert status.next_try is not None


async def test_a_password_is_given_where_one_is_asked_for() -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there, is_password=True)) as (fleet, _):
        await fleet.settled(["openclaw"])
    assert there.greetings[0]["auth"] == {"password": TOKEN}


async def test_a_gateway_that_is_still_starting_is_waited_for_as_it_asks() -> None:
    async with openclaw_gateway(starting=[1, 1]) as there, fleet_of(spec_of(there)) as (_, witness):
        await witness.until_state("openclaw", State.READY)
        assert witness.states("openclaw") == [State.WAITING, State.STARTING, State.READY]
    assert len(there.greetings) == 3


async def test_one_that_does_not_come_up_in_time_is_down() -> None:
    async with (
        openclaw_gateway(starting=[60_000]) as there,
        fleet_of(spec_of(there, start_seconds=0.3)) as (_, witness),
    ):
        status = await witness.until_state("openclaw", State.DOWN)
    assert status.error == "it was not ready within 0.3 s"


async def test_fewer_scopes_are_asked_for_where_not_all_are_given() -> None:
    def greet(gateway: FakeGateway) -> None:
        refused = Refuse("FORBIDDEN", "missing scope: operator.admin", details={"code": "MISSING_SCOPE"})
        gateway.refuses_greeting = refused

    async with openclaw_gateway() as there:
        greet(there)
        async with fleet_of(spec_of(there)) as (fleet, _):
            await there.until(lambda: len(there.greetings) >= 1)
            there.refuses_greeting = None
            await fleet.settled(["openclaw"])
            assert fleet.statuses()[0].state is State.READY
    assert [greeting["scopes"] for greeting in there.greetings][:1] == [["operator.read", "operator.admin"]]


async def test_a_gateway_that_is_restarted_is_connected_to_and_listed_again() -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there)) as (fleet, witness):
        await fleet.settled(["openclaw"])
        await there.stop()
        down = await witness.until_state("openclaw", State.DOWN)
        refused = await outcome(fleet, "openclaw", "llm-task")
        await there.start()
        await witness.until(lambda: len(witness.listings) == 2)
        assert witness.states("openclaw")[-1] is State.READY
    assert down.error == "OpenClaw's connection was cut"
    assert isinstance(refused, UpstreamError)
    assert not refused.ran


async def test_a_call_under_way_when_the_socket_drops_may_have_run() -> None:
    async def dropped(_call: object, _reply: object) -> None:
        await there.stop()

    async with openclaw_gateway(answers={"llm-task": dropped}) as there:
        async with fleet_of(spec_of(there)) as (fleet, _):
            came = await outcome(fleet, "openclaw", "llm-task")
        await there.start()
    assert isinstance(came, UpstreamError)
    assert came.ran


async def test_nobody_there_is_said_as_such() -> None:
    async with openclaw_gateway() as there:
        spec = spec_of(there)
    async with fleet_of(spec) as (_, witness):
        status = await witness.until_state("openclaw", State.DOWN)
    assert status.error == f"127.0.0.1:{there.port} does not take connections"


@pytest.mark.parametrize(
    "frame",
    [
        json.dumps({"type": "event", "event": "nobody.knows", "payload": [1]}),
        json.dumps({"type": "event"}),
        json.dumps({"type": "res", "id": "999", "ok": True}),
        json.dumps({"type": "res", "id": 5}),
        json.dumps({"type": "news"}),
        json.dumps({"type": "event", "event": "chat", "payload": {"text": "x" * 1_000_000}}),
        json.dumps({"type": "event", "event": "chat", "payload": {"text": "x" * 25 * MIB}}, separators=(",", ":")),
    ],
)
async def test_what_nobody_knows_is_passed_over(frame: str) -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there)) as (fleet, witness):
        await fleet.settled(["openclaw"])
        await there.send_raw(frame)
        await there.emit("plugins.changed", {})
        await witness.until(lambda: len(witness.listings) == 2)
        assert fleet.statuses()[0].starts == 1


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        ("not json", "it sent a frame that is not acceptable: invalid JSON at character 0"),
        ('{"a":' * 1000, "it sent a frame that is not acceptable: nested deeper than 200"),
        ("x" * (25 * MIB), "it sent a message over the limit of 4194304 bytes"),
        ("x" * (26 * MIB), "it sent a message over the limit of 26279936 bytes"),
    ],
)
async def test_what_is_no_frame_ends_the_connection(frame: str, error: str) -> None:
    async with openclaw_gateway() as there, fleet_of(spec_of(there)) as (fleet, witness):
        await fleet.settled(["openclaw"])
        await there.send_raw(frame)
        status = await witness.until_state("openclaw", State.DOWN)
        await witness.until(lambda: len(witness.listings) == 2)
    assert status.error.startswith(error[:60])


async def test_over_tls_the_certificate_is_checked_and_no_proxy_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "wss_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    path = signed_by_itself(tmp_path)
    answers = {"llm-task": result({"json": 1})}
    async with openclaw_gateway(tls=server_context(path), answers=answers) as there:
        async with fleet_of(spec_of(there)) as (_, witness):
            down = await witness.until_state("openclaw", State.DOWN)
        assert there.greetings == []
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        async with fleet_of(spec_of(there)) as (fleet, _):
            came = await outcome(fleet, "openclaw", "llm-task")
    assert down.error == f"the certificate of 127.0.0.1:{there.port} is not accepted: self-signed certificate"
    assert isinstance(came, dict)
    assert len(there.greetings) == 1


async def test_a_gateway_elsewhere_is_greeted_with_a_signature_that_holds() -> None:
    at = Challenge("nonce-1", 1796026991565)
    device = signed(b"\x07" * 32, TOKEN, ["operator.read"], at)
    public, signature = (_bytes(text) for text in (device.public_key, device.signature))
    whom = f"v3|{device.id}|gateway-client|backend|operator|operator.read|1796026991565|{TOKEN}|nonce-1|{sys.platform}|"
    Ed25519PublicKey.from_public_bytes(public).verify(signature, whom.encode())
    async with openclaw_gateway() as there:
        spec = spec_of(there)
        seeded = replace(spec, target=replace(spec.target, device_seed=b"\x07" * 32, asks_for_schemas=False))  # type: ignore[arg-type]
        async with fleet_of(seeded) as (fleet, _):
            await fleet.settled(["openclaw"])
    assert there.greetings[0]["device"] == {
        "id": device.id, "publicKey": device.public_key, "signature": device.signature,
        "signedAt": 1796026991565, "nonce": "nonce-1",
    }  # fmt: skip


def _bytes(text: str) -> bytes:
    import base64

    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_without_a_gateway_nothing_of_it_is_imported() -> None:
    program = (
        "import sys, server.app, upstream_clients;"
        "heavy = {'websockets', 'cryptography', 'httpx2', 'upstream_clients.openclaw.connection'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_frames_are_never_logged() -> None:
    assert not logging.getLogger("websockets.client").isEnabledFor(logging.ERROR)
