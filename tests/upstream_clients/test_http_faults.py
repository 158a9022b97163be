"""What an HTTP server can do wrong, and what becomes of the call, the connection and the deadline. Real sockets."""

import json
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.support.certificates import server_context, signed_by_itself
from tests.support.endpoints import MESSAGE_BYTES, endpoint_spec
from tests.support.fleets import fleet_of, outcome
from tests.support.hosts import text_of
from tests.support.http_stub import (
    Answer,
    accepted,
    closed,
    echo,
    events,
    http_stub,
    refusal,
    reset,
    result,
    silence,
    status,
)
from upstream_clients import (
    State,
    UpstreamDown,
    UpstreamError,
    UpstreamGone,
    UpstreamProtocolFault,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamUnauthorized,
)

ANSWER: Final = '{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}'


@dataclass(frozen=True)
class Case:
    """How `tools/call` is answered, and what the call comes to."""

    name: str
    answers: Answer | Sequence[Answer]
    kind: type[UpstreamError]
    says: str
    ran: bool
    sent: int = 1  # how often the call reached the server
    lives: bool = True  # whether the connection is still there afterwards
    idle: float = field(default=20, kw_only=True)


HTML: Final = status(200, b"<p>hunter2</p>", "text/html; charset=hunter2")
CASES: Final = [
    Case("reset", reset, UpstreamGone, "cut before it had answered", True),
    Case("hung up", closed, UpstreamGone, "cut before it had answered", True),
    Case("silence", silence, UpstreamTimeout, "no answer and no progress for 0.3 s", True, idle=0.3),
    Case("401", status(401), UpstreamUnauthorized, "HTTP 401", False, lives=False),
    Case("403", status(403), UpstreamError, "HTTP 403", False),
    Case("413", status(413), UpstreamError, "HTTP 413", False),
    Case("418", status(418), UpstreamError, "HTTP 418", False),
    Case("429 without a time", status(429), UpstreamError, "HTTP 429", False),
    Case("429 later than the deadline", status(429, retry_after="3600"), UpstreamError, "HTTP 429", False),
    Case("429 again and again", status(429, retry_after="0"), UpstreamError, "HTTP 429", False, sent=4),
    Case("429 with nonsense", status(429, retry_after="soon"), UpstreamError, "HTTP 429", False),
    Case("429 in a zone of nowhere", status(429, retry_after=f"Wed, 21 Oct 2015 07:28:00 +{10**19}"), UpstreamError,
         "HTTP 429", False),
    Case("500", status(500, b"Traceback: hunter2"), UpstreamError, "HTTP 500", True),
    Case("502", status(502), UpstreamError, "HTTP 502", True),
    Case("503", status(503), UpstreamError, "HTTP 503", False),
    Case("504", status(504), UpstreamError, "HTTP 504", True),
    Case("202 to a request", accepted, UpstreamProtocolFault, "gave no answer (HTTP 202)", True),
    Case("a web page", HTML, UpstreamProtocolFault, "its answer is text/html", True),
    Case("not JSON", status(200, b"{hunter2", "application/json"), UpstreamProtocolFault, "not acceptable", True),
    Case("NaN", status(200, b'{"jsonrpc":"2.0","id":3,"result":{"a":NaN}}', "application/json"),
         UpstreamProtocolFault, "NaN or infinity", True),
    Case("1e999", status(200, b'{"jsonrpc":"2.0","id":3,"result":{"a":1e999}}', "application/json"),
         UpstreamProtocolFault, "NaN or infinity", True),
    Case("too deep", status(200, b'{"jsonrpc":"2.0","id":3,"result":{"a":' + b"[" * 300 + b"]" * 300 + b"}}",
                            "application/json"), UpstreamProtocolFault, "not acceptable", True),
    Case("too long", result({"text": "x" * MESSAGE_BYTES}), UpstreamProtocolFault, "over the limit", True),
    Case("compressed", result({"content": []}, **{"content-encoding": "gzip"}),
         UpstreamProtocolFault, "compressed", True),
    Case("an empty stream", events(), UpstreamGone, "cut off", True),
    Case("a stream that is cut", events(b": hello\n\n", None), UpstreamGone, "cut off", True),
    Case("half an event", events(b"event: message\ndata: {\"jsonrpc\""), UpstreamGone, "cut off", True),
    Case("bad JSON in a stream", events("{hunter2"), UpstreamProtocolFault, "not acceptable", True),
    Case("an event too long", events(json.dumps("x" * MESSAGE_BYTES)), UpstreamProtocolFault, "over the limit", True),
    Case("an endless line", events(b"data: " + b"x" * MESSAGE_BYTES), UpstreamProtocolFault, "over the limit", True),
    Case("a redirect with another method", status(302, location="/other"), UpstreamError, "redirects to http://127", False),
    Case("a redirect elsewhere", status(307, location="http://x.test/?hunter2"), UpstreamError,
         "it redirects to http://x.test/", False),
    Case("a redirect with a user", status(307, location="http://hunter2@x.test/"), UpstreamError,
         "it redirects to http://x.test/", False),
    Case("a redirect to nowhere", status(307), UpstreamProtocolFault, "redirects to nowhere", False),
    Case("a redirect that is none", status(307, location="http://127.0.0.1:port/"), UpstreamProtocolFault, "nowhere", False),
    Case("a circle", status(307, location="/mcp"), UpstreamError, "without end", False, sent=4),
    Case("a JSON-RPC error", refusal(400, -32602, "no such tool"), UpstreamRefused, "no such tool", True),
    Case("404 and a JSON-RPC error", refusal(404, -32601, "no such method"), UpstreamRefused, "no such method", True),
    Case("a session that never lives", status(404), UpstreamGone, "does not know our session", False, sent=2, lives=False),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_call_ends_in_a_clear_error(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    async with (
        http_stub({"tools/call": case.answers}) as stub,
        fleet_of(endpoint_spec("a", stub.url, idle=case.idle)) as (fleet, witness),
    ):
        await witness.until_state("a", State.READY)
        failed = await outcome(fleet, "a", "echo")
        assert isinstance(failed, UpstreamError), failed
        assert (type(failed).code, failed.ran) == (case.kind.code, case.ran), failed
        assert case.says in failed.message
        assert stub.count("tools/call") == case.sent
        stub.answers.clear()
        if case.lives:
            assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
            assert stub.count("initialize") == 1
    assert "hunter2" not in f"{failed.message} {failed.hint} {caplog.text} {witness.statuses}"


START: Final = [
    Case("reset", reset, UpstreamGone, "cut before it had answered", True),
    Case("silence", silence, UpstreamTimeout, "it was not ready within", True),
    Case("401", status(401), UpstreamUnauthorized, "HTTP 401", False),
    Case("403", status(403), UpstreamError, "HTTP 403", False),
    Case("404", status(404), UpstreamError,
         "(streamable HTTP: there is nothing at its address (HTTP 404); HTTP with SSE:", False),
    Case("500", status(500), UpstreamError, "HTTP 500", False),
    Case("a web page", HTML, UpstreamProtocolFault, "its answer is text/html", False),
]  # fmt: skip


@pytest.mark.parametrize("case", START, ids=lambda case: case.name)
async def test_a_start_ends_in_a_state_that_says_what_to_do(case: Case) -> None:
    async with http_stub({"initialize": case.answers}) as stub:
        spec = endpoint_spec("a", stub.url)
        if case.answers is silence:
            object.__setattr__(spec, "start_seconds", 1.5)
        async with fleet_of(spec) as (fleet, witness):
            down = await witness.until_state("a", State.DOWN)
            failed = await outcome(fleet, "a", "echo")
    assert case.says in down.error
    assert isinstance(failed, UpstreamError)
    assert isinstance(failed, UpstreamDown) or case.says in failed.message
    assert not failed.ran
    assert stub.count("initialize") >= 1


async def test_an_address_where_nothing_listens_is_named_and_tried_again() -> None:
    async with http_stub() as stub:
        url = stub.url
    async with fleet_of(endpoint_spec("a", url)) as (_, witness):
        down = await witness.until_state("a", State.DOWN)
        await witness.until(lambda: witness.states("a").count(State.DOWN) == 2)
    assert down.error == f"{url.split('/')[2]} does not take connections"
    assert down.hint != ""


async def test_an_upstream_that_goes_away_is_down_until_it_is_back() -> None:
    async with http_stub() as stub:
        url = stub.url
        async with fleet_of(endpoint_spec("a", url)) as (fleet, witness):
            await witness.until_state("a", State.READY)
            stub.answers["tools/call"] = status(401)
            assert isinstance(await outcome(fleet, "a", "echo"), UpstreamUnauthorized)
            down = await witness.until_state("a", State.DOWN)
            assert "HTTP 401" in down.error
            stub.answers.clear()
            await witness.until(lambda: witness.states("a")[-1] is State.READY)
            assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"


@pytest.mark.parametrize("code", [429, 503])
async def test_a_call_that_was_not_taken_is_sent_again_when_its_server_says(code: int) -> None:
    async with (
        http_stub({"tools/call": [status(code, retry_after="0"), echo]}) as stub,
        fleet_of(endpoint_spec("a", stub.url)) as (fleet, _),
    ):
        assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
    assert stub.count("tools/call") == 2


@pytest.mark.parametrize("code", [307, 308])
async def test_a_redirect_within_the_origin_is_followed_with_the_message(code: int) -> None:
    async with (
        http_stub({"tools/call": [status(code, location="/other/?a=b"), echo]}) as stub,
        fleet_of(endpoint_spec("a", stub.url, headers={"X-Key": "k"})) as (fleet, _),
    ):
        assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
    calls = [request for request in stub.seen if request.what == "tools/call"]
    assert [(call.path, call.headers["x-key"]) for call in calls] == [("/mcp", "k"), ("/other/?a=b", "k")]
    assert calls[0].message == calls[1].message


async def test_nothing_is_sent_to_another_origin() -> None:
    async with (
        http_stub() as other,
        http_stub({"initialize": status(307, location=other.url)}) as stub,
        fleet_of(endpoint_spec("a", stub.url, headers={"X-Key": "k"})) as (_, witness),
    ):
        down = await witness.until_state("a", State.DOWN)
    assert down.error == f"it redirects to {other.url}"
    assert other.seen == []


async def test_a_server_without_tls_is_told_from_one_that_is_not_there() -> None:
    async with http_stub() as stub, fleet_of(endpoint_spec("a", stub.url.replace("http:", "https:"))) as (_, witness):
        down = await witness.until_state("a", State.DOWN)
    assert down.error.startswith("no TLS with 127.0.0.1:")
    assert stub.seen == []


async def test_a_certificate_is_checked_against_the_authorities_of_the_system_or_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = signed_by_itself(tmp_path)
    async with http_stub(tls=server_context(path)) as stub:
        async with fleet_of(endpoint_spec("a", stub.url)) as (_, witness):
            down = await witness.until_state("a", State.DOWN)
        assert down.error == f"the certificate of {stub.base[8:]} is not accepted: self-signed certificate"
        assert "SSL_CERT_FILE" in down.hint
        assert stub.seen == []
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        async with fleet_of(endpoint_spec("a", stub.url)) as (fleet, _):
            assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"


async def test_authorities_are_read_once_for_all_addresses_and_again_when_an_hour_has_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[ssl.SSLContext] = []

    def counted(*, trust_env: bool) -> ssl.SSLContext:
        assert trust_env
        read.append(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        return read[-1]

    monkeypatch.setattr("httpx2.create_ssl_context", counted)
    async with http_stub() as stub:
        async with fleet_of(*(endpoint_spec(owner, stub.url) for owner in "abc")) as (_, witness):
            for owner in "abc":
                await witness.until_state(owner, State.READY)
            assert len(read) == 1
            monkeypatch.setattr("upstream_clients.http.certificates.GOOD_SECONDS", -1.0)
        async with fleet_of(*(endpoint_spec(owner, stub.url) for owner in "abc")) as (_, witness):
            for owner in "abc":
                await witness.until_state(owner, State.READY)
    assert len(read) == 1 + 3


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with http_stub() as stub, fleet_of(endpoint_spec("a", stub.url)) as (fleet, _):
        assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"


async def test_a_host_that_is_not_known_is_named() -> None:
    async with fleet_of(endpoint_spec("a", "http://nowhere.invalid/mcp")) as (_, witness):
        down = await witness.until_state("a", State.DOWN)
    assert down.error == "the name nowhere.invalid is not known"


async def test_text_that_http_cannot_carry_is_refused_before_it_is_sent() -> None:
    async with http_stub() as stub, fleet_of(endpoint_spec("a", stub.url)) as (fleet, _):
        with pytest.raises(UpstreamError, match="half a character") as refused:
            await fleet.call("a", "echo", {"text": "\ud800"}, {})
        assert text_of(await fleet.call("a", "echo", {"text": "\U0001f33f"}, {})) == "echo"
    assert not refused.value.ran
    assert stub.count("tools/call") == 1
