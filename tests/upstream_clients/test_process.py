import signal
import sys
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from tests.support.children import CALL, Line, child_of, launch_of, reasons
from tests.support.fleets import LONG_SECONDS
from tests.support.processes import GONE_SECONDS, all_gone, all_there, descriptors
from tests.support.upstreams import Options, Script, command
from tests.support.waiting import until
from upstream_clients import Launch, UpstreamError, UpstreamGone, UpstreamProtocolFault, dump
from upstream_clients.platform import current_platform
from upstream_clients.process import STDERR_TAIL, ChildProcess, running_child
from upstream_clients.watchdog import Watchdog


@pytest.fixture
def marker() -> str:
    return f"toolfold-test-{uuid4().hex}"


async def test_a_message_and_its_answer() -> None:
    async with child_of(launch_of({})) as (child, line):
        child.write(dump(CALL))
        await line.came.wait()
    assert line.messages == [{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "{}"}]}}]
    assert line.losses == []
    assert child.return_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
async def test_none_is_started_with_the_last_descriptors() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(descriptors()) + 20, before[1]))
    try:
        with pytest.raises(UpstreamError, match="Too many open files") as refused:
            async with child_of(launch_of({})):
                raise NotImplementedError
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert "ulimit -n" in refused.value.hint


async def test_the_child_gets_the_folder_and_the_environment_it_was_given_and_one_mark(tmp_path: Path) -> None:
    launch = launch_of({"does": {"x": {"do": "environment"}}})
    async with child_of(replace(launch, env={"ONLY": "this"}, cwd=str(tmp_path))) as (child, line):
        child.write(dump(CALL))
        await line.came.wait()
    result = line.messages[0]["result"]
    assert isinstance(result, dict)
    environment = result["structuredContent"]["env"]
    assert environment.keys() - {"LC_CTYPE"} == {"ONLY", "TOOLFOLD_CHILD_OF"}  # LC_CTYPE is Python's own
    assert environment["ONLY"] == "this"
    assert result["structuredContent"]["cwd"] == str(tmp_path)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"exit": 3}, "it ended with exit code 3"),
        ({"exit": 0}, "it ended with exit code 0"),
        ({"does": {"x": {"do": "crash", "code": 9}}}, "it ended with exit code 9"),
        ({"does": {"x": {"do": "close_output"}}}, "it closed its standard output"),
        ({"exit": 4, "children": ["holding"]}, "it ended with exit code 4"),
    ],
)
async def test_a_child_that_is_gone_says_how(options: Options, reason: str) -> None:
    async with child_of(launch_of(options)) as (child, line):
        child.write(dump(CALL))
        await line.lost.wait()
    assert (reasons(line), line.messages) == ([reason], [])


async def test_a_child_that_was_killed_says_by_which_signal() -> None:
    async with child_of(launch_of({})) as (child, line):
        current_platform().end_hard(child.pid)
        await line.lost.wait()
    assert reasons(line) == [f"it ended with signal {int(signal.SIGKILL)}"]


async def test_the_last_answer_of_a_child_that_ends_is_not_lost() -> None:
    big = {"do": "text", "bytes": 3 << 20}
    async with child_of(launch_of({"does": {"x": [big, {"do": "crash"}]}})) as (child, line):
        child.write(dump(CALL))
        await line.lost.wait()
    assert [message["id"] for message in line.messages] == [1]
    assert reasons(line) == ["it ended with exit code 3"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"do": "utf8"}, "it sent a message that is not acceptable: invalid UTF-8"),
        ({"do": "nan"}, "it sent a message that is not acceptable: NaN or infinity"),
        ({"do": "deep"}, "it sent a message that is not acceptable: nested deeper than 200"),
        ({"do": "deep", "depth": 300_000}, "it sent a message that is not acceptable: nested deeper than 200"),
        ({"do": "giant"}, "it sent a line over the limit"),
        ({"do": "endless"}, "it sent a line over the limit"),
        ({"do": "write", "line": '{"secret": hunter2'}, "it sent a message that is not acceptable: invalid JSON"),
    ],
)
async def test_what_is_no_message_ends_the_connection_at_once(step: dict[str, object], reason: str) -> None:
    async with child_of(launch_of({"does": {"x": step}})) as (child, line):
        child.write(dump(CALL))
        await line.lost.wait()
    assert [type(error) for error in line.losses] == [UpstreamProtocolFault]
    assert reasons(line)[0].startswith(reason)
    assert "hunter2" not in str(line.losses)


def fill(child: ChildProcess, line: bytes) -> None:
    for _ in range(100):
        child.write(line)


async def test_a_child_that_stops_reading_is_given_up_before_it_fills_our_memory() -> None:
    megabyte = b'{"x":"%s"}\n' % (b"y" * (1 << 20))
    async with child_of(launch_of({"hang": True})) as (child, line):
        for _ in range(16):
            child.write(megabyte)
        with pytest.raises(UpstreamGone):
            fill(child, megabyte)
        await line.lost.wait()
    assert reasons(line) == ["it has stopped reading its standard input"]


async def test_a_child_that_was_given_up_is_not_listened_to(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    late: Script = [{"do": "gate", "path": str(gate)}, {"do": "notify", "method": "late"}, {"do": "crash"}]
    async with child_of(launch_of({"on": {"late": late, "stop": {"do": "stop"}}})) as (child, line):
        for method in ("late", "stop"):
            child.write(dump({"jsonrpc": "2.0", "id": 1, "method": method}))
        with pytest.raises(UpstreamGone):
            fill(child, b'{"x":"%s"}\n' % (b"y" * (1 << 20)))
        gate.touch()
        await until(lambda: child.return_code is not None)
    assert (reasons(line), line.messages) == (["it has stopped reading its standard input"], [])


async def test_nothing_can_be_written_to_a_child_that_is_gone() -> None:
    async with child_of(launch_of({"exit": 0})) as (child, line):
        await line.lost.wait()
        with pytest.raises(UpstreamGone):
            child.write(dump(CALL))


async def test_of_a_flood_on_standard_error_only_the_end_is_kept() -> None:
    flood = {"do": "flood", "bytes": 32 << 20, "end": "the reason"}
    async with child_of(launch_of({"does": {"x": [flood, {"do": "echo"}]}})) as (child, line):
        child.write(dump(CALL))
        await line.came.wait()
        tail = child.stderr_tail()
        while not tail.endswith("the reason"):  # the two pipes are read independently of each other
            await anyio.sleep(0.01)
            tail = child.stderr_tail()
    assert len(tail) == STDERR_TAIL


async def test_a_flood_of_crumbs_on_standard_error_keeps_no_more() -> None:
    platform = current_platform()
    process = platform.start(["true"], {"PATH": "/bin:/usr/bin"}, None)
    process.communicate()
    child = ChildProcess(process, platform, Watchdog(platform), Line().lose)
    for _ in range(2 * STDERR_TAIL):
        child._keep_stderr(b"y")
    child._keep_stderr(b"\xff the reason")
    assert len(child._stderr) <= STDERR_TAIL + 1
    assert child.stderr_tail().endswith("y\ufffd the reason")


@pytest.mark.parametrize(
    ("argv", "cwd", "message", "hint"),
    [
        (["no-such-program"], None, "the command 'no-such-program' was not found", "Install it"),
        (["/etc"], None, "the command '/etc' may not be executed", "chmod +x /etc"),
        ([sys.executable], "/no/such/folder", "its folder does not exist: /no/such/folder", "cwd"),
    ],
)
async def test_a_program_that_cannot_be_started_says_why(
    argv: list[str], cwd: str | None, message: str, hint: str
) -> None:
    with pytest.raises(UpstreamError) as failure:
        async with child_of(Launch(tuple(argv), {"PATH": "/usr/bin:/bin"}, cwd, 1 << 20)):
            raise NotImplementedError
    assert failure.value.message == message
    assert hint in failure.value.hint


async def test_an_error_that_leaves_the_child_takes_its_last_words_along() -> None:
    async def fails() -> None:
        async with child_of(launch_of({"stderr": "no key\n", "exit": 1})) as (_, line):
            await line.lost.wait()
            raise line.losses[0]

    with pytest.raises(UpstreamError) as failure:
        await fails()
    assert failure.value.last_words == "no key\n"


STUBBORN: list[Options] = [
    {},
    {"ignore_eof": True},
    {"ignore_eof": True, "ignore_sigterm": True},
    {"hang": True, "ignore_sigterm": True},
    {"children": ["holding"]},
    {"children": ["detached"]},
    {"children": ["holding", "detached"], "ignore_eof": True, "ignore_sigterm": True},
    {"children": ["holding"], "exit": 0},
    {"does": {"x": {"do": "endless"}}},
]


@pytest.mark.parametrize("options", STUBBORN)
async def test_after_the_end_no_process_of_the_group_is_left(options: Options, marker: str) -> None:
    launch = launch_of(Options({**options, "marker": marker}))
    platform, line = current_platform(), Line()
    with Watchdog(platform) as watchdog, anyio.fail_after(LONG_SECONDS):
        async with running_child(launch, platform, watchdog, line.take, line.lose) as child:
            child.write(dump(CALL))
            with anyio.move_on_after(0.5):  # it may answer, fail or do nothing
                await line.came.wait()
        assert await anyio.to_thread.run_sync(all_gone, marker) == {}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, 0),
        ({"ignore_eof": True}, -signal.SIGTERM),
        ({"ignore_eof": True, "ignore_sigterm": True}, -signal.SIGKILL),
    ],
)
async def test_a_child_is_ended_no_harder_than_it_needs(options: Options, code: int) -> None:
    async with child_of(launch_of(options)) as (child, line):
        child.write(dump(CALL))
        await line.came.wait()
    assert child.return_code == code


async def test_pipes_that_are_held_by_a_process_outside_the_group_are_closed_all_the_same(marker: str) -> None:
    launch = launch_of({"marker": marker, "children": ["escaped"], "hang": True})
    platform, line = current_platform(), Line()
    with Watchdog(platform) as watchdog, anyio.fail_after(LONG_SECONDS):
        before = set(descriptors())
        async with running_child(launch, platform, watchdog, line.take, line.lose) as child:
            assert len(await anyio.to_thread.run_sync(all_there, marker, 2)) == 2
            child.write(b"x" * (1 << 20))  # nobody reads it: it waits in our memory
        await until(lambda: set(descriptors()) == before)  # the loop closes them in its next turns
        assert len(await anyio.to_thread.run_sync(all_there, marker, 1)) == 1


async def test_what_has_left_the_group_ends_with_the_watchdog(marker: str) -> None:
    async with child_of(launch_of({"marker": marker, "children": ["escaped"]})):
        assert len(await anyio.to_thread.run_sync(all_there, marker, 2)) == 2
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}


@pytest.mark.parametrize("turns", range(12))
async def test_a_start_that_is_given_up_at_any_moment_leaves_nothing_running(turns: int, marker: str) -> None:
    launch = launch_of({"marker": marker, "children": ["holding"]})

    async def start() -> None:
        async with child_of(launch):
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(start)
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}


@pytest.fixture
def process_without_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS, and in sandboxes that refuse the call."""

    def refused(_pid: int, _flags: int = 0) -> int:
        raise OSError

    monkeypatch.setattr("os.pidfd_open", refused)


@pytest.mark.usefixtures("process_without_pidfd")
async def test_without_a_pidfd_a_thread_sees_the_exit() -> None:
    async with child_of(launch_of({"exit": 5})) as (_, line):
        await line.lost.wait()
    assert reasons(line) == ["it ended with exit code 5"]


async def test_the_watchdog_ends_with_us_and_what_it_watched_with_it(marker: str) -> None:
    argv = command(marker=marker, ignore_eof=True, ignore_sigterm=True, children=["detached"])
    platform = current_platform()
    with Watchdog(platform) as watchdog:
        process = platform.start(argv, {}, None)
        watchdog.watch(process.pid)
        assert len(await anyio.to_thread.run_sync(all_there, marker, 2)) == 2
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}
    process.communicate()


async def test_the_watchdog_also_finds_what_it_was_never_told_of(marker: str) -> None:
    argv = command(marker=marker, ignore_eof=True, ignore_sigterm=True, children=["escaped"])
    platform = current_platform()
    with Watchdog(platform):
        process = platform.start(argv, {}, None)
        assert len(await anyio.to_thread.run_sync(all_there, marker, 2)) == 2
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}
    process.communicate()


@pytest.mark.parametrize("rounds", [10, pytest.param(300, marks=pytest.mark.soak)])
async def test_the_watchdog_finds_a_process_that_is_just_becoming_another_program(rounds: int, tmp_path: Path) -> None:
    """Such a process shows no environment for a moment; one that becomes another all the time is often met in it."""
    script = tmp_path / "becoming"
    script.write_text('[ "$1" = 0 ] && exec sleep 3600; exec /bin/sh "$0" $(($1 - 1))')
    platform = current_platform()
    for _ in range(rounds):
        with Watchdog(platform):
            process = platform.start(["/bin/sh", str(script), "1500"], {"PATH": "/bin:/usr/bin"}, None)
            await anyio.to_thread.run_sync(all_there, str(script), 1)
        process.communicate(timeout=GONE_SECONDS)
        assert process.returncode == -signal.SIGKILL


async def test_the_watchdog_leaves_alone_what_others_have_started(marker: str) -> None:
    platform, other = current_platform(), current_platform()
    with Watchdog(platform) as watchdog:
        process = other.start(command(marker=marker, ignore_eof=True), {}, None)
        watchdog.watch(process.pid)
        watchdog.forget(process.pid)
    assert process.poll() is None
    platform.end_hard(process.pid)
    process.communicate()


async def test_without_its_watchdog_the_gateway_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with Watchdog(current_platform()) as watchdog:
        assert watchdog._process is not None
        watchdog._process.kill()
        watchdog._process.wait()
        for group in (1_000_001, 1_000_002):
            watchdog.watch(group)
    assert len(caplog.records) == 1
