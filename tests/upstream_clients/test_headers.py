"""The headers that an entry gives, written out and printed by its helper: where they go, when they are renewed."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.endpoints import endpoint_spec
from tests.support.fleets import fleet_of, outcome
from tests.support.hosts import text_of
from tests.support.http_stub import Reply, Request, echo, http_stub, refusal, result, status
from tests.support.pretended_windows import PretendedKernel, pretended_windows
from upstream_clients import HeadersHelper, State, UpstreamRefused, UpstreamUnauthorized

ENV = {"PATH": "/usr/bin:/bin"}


def helper(code: str, *args: str) -> HeadersHelper:
    return HeadersHelper((sys.executable, "-I", "-S", "-c", code, *args), ENV)


def counting(folder: Path) -> HeadersHelper:
    """Prints a token that is another at each run."""
    code = (
        "import sys, json; f = open(sys.argv[1], 'a+'); f.write('x'); f.flush(); f.seek(0);"
        "print(json.dumps({'Authorization': f'Bearer token-{len(f.read())}'}, indent=1))"
    )
    return helper(code, str(folder / "runs"))


async def test_written_headers_go_with_every_request_and_replace_none_of_the_transports() -> None:
    headers = {"X-Key": "k", "Authorization": "Bearer b", "Content-Type": "text/plain", "Host": "x.test"}
    async with http_stub() as stub, fleet_of(endpoint_spec("a", stub.url, headers=headers)) as (fleet, _):
        await fleet.call("a", "echo", {}, {})
    assert {request.headers["x-key"] for request in stub.seen} == {"k"}
    assert {request.headers["authorization"] for request in stub.seen} == {"Bearer b"}
    assert {request.headers["host"] for request in stub.seen} == {stub.base.removeprefix("http://")}
    assert {request.headers["content-type"] for request in stub.seen if request.method == "POST"} == {
        "application/json"
    }


async def test_a_user_in_the_address_is_sent_as_credentials_and_shown_nowhere() -> None:
    async with http_stub({"initialize": status(500)}) as stub:
        url = stub.url.replace("127.0.0.1", "ann:hunter2@127.0.0.1")
        async with fleet_of(endpoint_spec("a", url)) as (_, witness):
            await witness.until_state("a", State.DOWN)
    assert stub.seen[0].headers["authorization"] == "Basic YW5uOmh1bnRlcjI="
    assert "hunter2" not in str(witness.statuses)


async def test_the_helper_runs_for_each_connection_and_again_when_its_headers_are_refused(tmp_path: Path) -> None:
    wanted = {"token-1"}

    async def guarded(request: Request, reply: Reply) -> None:
        known = request.headers["authorization"].removeprefix("Bearer ") in wanted
        await (echo if known else status(401))(request, reply)

    async with http_stub({"tools/call": guarded}) as stub:
        spec = endpoint_spec("a", stub.url, helper=counting(tmp_path))
        async with fleet_of(spec) as (fleet, _):
            assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
            wanted = {"token-2"}
            assert text_of(await fleet.call("a", "echo", {}, {})) == "echo"
        assert stub.count("tools/call") == 3
        async with fleet_of(spec) as (_, witness):
            await witness.until_state("a", State.READY)
    assert stub.seen[-1].headers["authorization"] == "Bearer token-3"


async def test_as_on_windows_the_helper_runs_in_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = PretendedKernel()
    monkeypatch.setattr("upstream_clients.program.current_platform", lambda: pretended_windows(kernel))
    async with http_stub() as stub, fleet_of(endpoint_spec("a", stub.url, helper=counting(tmp_path))) as (_, witness):
        await witness.until_state("a", State.READY)
    assert stub.seen[0].headers["authorization"] == "Bearer token-1"
    assert (kernel.called.count("AssignProcessToJobObject"), kernel.open) == (1, {})


async def test_headers_that_stay_refused_end_the_connection_with_what_to_do(tmp_path: Path) -> None:
    async with (
        http_stub({"tools/call": status(401)}) as stub,
        fleet_of(endpoint_spec("a", stub.url, helper=counting(tmp_path))) as (fleet, witness),
    ):
        failed = await outcome(fleet, "a", "echo")
        down = await witness.until_state("a", State.DOWN)
    assert isinstance(failed, UpstreamUnauthorized)
    assert not failed.ran
    assert stub.count("tools/call") == 2
    assert (down.error, down.hint) == (failed.message, "Run its headersHelper by hand: what it prints was refused.")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; print('hunter2'); sys.exit(3)", "ended with exit code 3"),
        ("print('hunter2')", "printed something else than a JSON object"),
        ("print('[\"hunter2\"]')", "printed something else than a JSON object of strings"),
        ("print('{\"a\": 1}')", "printed something else than a JSON object of strings"),
        ('print(\'{"a b": "hunter2"}\')', "printed a name or a value that no header may have"),
        ('print(\'{"a": "hunter2\\\\r\\\\nb: c"}\')', "printed a name or a value that no header may have"),
        ("print('x' * 100_000)", "printed more than 65536 bytes"),
        ("import time; time.sleep(60)", "did not end within 1 s"),
    ],
)
async def test_a_helper_that_fails_is_named_and_what_it_printed_is_not(
    code: str, says: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("upstream_clients.headers_helper.HELPER_SECONDS", 1.0 if "sleep" in code else 30.0)
    async with (
        http_stub() as stub,
        fleet_of(endpoint_spec("a", stub.url, helper=helper(code))) as (_, witness),
    ):
        down = await witness.until_state("a", State.DOWN)
    assert (down.error, down.hint) == (f"its headersHelper {says}", "Run its command by hand to see why.")
    assert stub.seen == []
    assert "hunter2" not in caplog.text


async def test_a_helper_that_is_not_there_is_named() -> None:
    missing = HeadersHelper(("no-such-program",), ENV)
    async with http_stub() as stub, fleet_of(endpoint_spec("a", stub.url, helper=missing)) as (_, witness):
        down = await witness.until_state("a", State.DOWN)
    assert down.error == "its headersHelper cannot be started: No such file or directory"


async def test_a_helper_gets_no_shell_and_only_its_own_environment() -> None:
    code = "import sys, os, json; print(json.dumps({'X-Args': sys.argv[1], 'X-Env': ' '.join(sorted(os.environ))}))"
    env = {"PATH": "/usr/bin:/bin", "PROFILE": "garden"}
    given = HeadersHelper((sys.executable, "-I", "-S", "-c", code, "$(id) ; x"), env)
    async with http_stub() as stub, fleet_of(endpoint_spec("a", stub.url, helper=given)) as (_, witness):
        await witness.until_state("a", State.READY)
    assert stub.seen[0].headers["x-args"] == "$(id) ; x"
    assert set(stub.seen[0].headers["x-env"].split()) - {"LC_CTYPE"} == {"PATH", "PROFILE", "TOOLFOLD_CHILD_OF"}


async def test_what_a_server_quotes_of_its_credentials_is_hidden() -> None:
    said = "no such key: long-key-hunter2"
    body = json.dumps({"jsonrpc": "2.0", "id": 3, "error": {"code": -32000, "message": said}}).encode()
    for answer in (status(200, body, "application/json"), refusal(400, -32000, said)):
        async with (
            http_stub({"tools/call": answer}) as stub,
            fleet_of(endpoint_spec("a", stub.url, headers={"X-Key": "long-key-hunter2"})) as (fleet, _),
        ):
            failed = await outcome(fleet, "a", "echo")
        assert isinstance(failed, UpstreamRefused)
        assert failed.message == "no such key: [redacted]"


async def test_a_helper_may_print_nothing_worth_sending() -> None:
    async with (
        http_stub({"tools/call": result({"content": []})}) as stub,
        fleet_of(endpoint_spec("a", stub.url, helper=helper("print('{}')"))) as (fleet, _),
    ):
        assert await fleet.call("a", "echo", {}, {}) == {"content": []}
