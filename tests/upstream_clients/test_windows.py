"""Children as Windows starts, reads and ends them, on this machine: only the kernel underneath is pretended."""

import ctypes
import signal
import subprocess
import sys
from uuid import uuid4

import anyio
import anyio.to_thread
import pytest

from tests.support.children import CALL, child_of, launch_of, reasons
from tests.support.pretended_windows import PretendedKernel, pretended_windows
from tests.support.processes import all_gone, descriptors
from tests.support.upstreams import Options
from tests.support.waiting import until
from upstream_clients import Launch, UpstreamError, UpstreamGone, dump
from upstream_clients.platform.windows import popen
from upstream_clients.platform.windows_kernel import SIGNATURES, ExtendedLimits, birth
from upstream_clients.process import ChildProcess


def test_the_limits_of_a_job_are_laid_out_as_windows_expects_them() -> None:
    assert (ctypes.sizeof(ExtendedLimits), ExtendedLimits.limit_flags.offset) == (144, 16)
    assert (ExtendedLimits.affinity.offset, ExtendedLimits.io_counters.offset) == (48, 64)


async def test_a_child_is_in_its_job_before_it_runs_and_every_handle_is_closed() -> None:
    kernel = PretendedKernel()
    async with child_of(launch_of({}), pretended_windows(kernel)) as (child, line):
        child.write(dump(CALL))
        await line.came.wait()
        assert len(kernel.open) == 1
    assert line.messages == [{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "{}"}]}}]
    assert (child.return_code, line.losses, kernel.open) == (0, [], {})
    assert kernel.called == [
        "CreateJobObjectW",
        "SetInformationJobObject",
        "OpenProcess",
        "AssignProcessToJobObject",
        "NtResumeProcess",
        "CloseHandle",
        "TerminateJobObject",
        "CloseHandle",
    ]
    assert set(kernel.called) <= SIGNATURES.keys()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, 0),
        ({"ignore_eof": True, "children": ["holding"]}, -signal.SIGKILL),
        ({"hang": True, "children": ["holding", "detached"]}, -signal.SIGKILL),
    ],
)
async def test_a_child_that_goes_on_after_its_input_was_closed_ends_with_its_job(options: Options, code: int) -> None:
    marker, before = f"toolfold-test-{uuid4().hex}", set(descriptors())
    launch = launch_of(Options({**options, "marker": marker}))
    async with child_of(launch, pretended_windows(PretendedKernel())) as (child, line):
        child.write(dump(CALL))
        with anyio.move_on_after(0.5):  # it may answer or do nothing
            await line.came.wait()
    assert child.return_code == code
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}
    await until(lambda: set(descriptors()) <= before)


@pytest.mark.parametrize(
    "refused",
    ["CreateJobObjectW", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject", "NtResumeProcess"],
)
async def test_a_child_that_gets_no_job_is_not_run(refused: str) -> None:
    marker, kernel = f"toolfold-test-{uuid4().hex}", PretendedKernel(refused)
    with pytest.raises(UpstreamError, match="gives it no job"):
        async with child_of(launch_of({"marker": marker}), pretended_windows(kernel)):
            raise NotImplementedError
    assert kernel.open == {}
    assert await anyio.to_thread.run_sync(all_gone, marker) == {}


@pytest.mark.parametrize(
    ("argv", "cwd", "message"),
    [
        (["no-such-program"], None, "the command 'no-such-program' was not found"),
        ([sys.executable], "/no/such/folder", "its folder does not exist: /no/such/folder"),
    ],
)
async def test_a_child_that_can_not_be_started_leaves_no_job(argv: list[str], cwd: str | None, message: str) -> None:
    kernel = PretendedKernel()
    with pytest.raises(UpstreamError, match=message):
        async with child_of(Launch(tuple(argv), {}, cwd, 1 << 20), pretended_windows(kernel)):
            raise NotImplementedError
    assert kernel.open == {}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"exit": 3}, "it ended with exit code 3"),
        ({"does": {"x": {"do": "close_output"}}}, "it closed its standard output"),
        ({"does": {"x": {"do": "giant"}}}, "it sent a line over the limit"),
        ({"does": {"x": {"do": "endless"}}}, "it sent a line over the limit"),
    ],
)
async def test_through_threads_a_child_that_is_gone_or_faulty_says_how(options: Options, reason: str) -> None:
    async with child_of(launch_of(options), pretended_windows(PretendedKernel())) as (child, line):
        child.write(dump(CALL))
        await line.lost.wait()
    assert (reasons(line), line.messages) == ([reason], [])


async def test_through_threads_the_last_answer_of_a_child_that_ends_is_not_lost() -> None:
    big = {"do": "text", "bytes": 3 << 20}
    launch = launch_of({"does": {"x": [big, {"do": "crash"}]}})
    async with child_of(launch, pretended_windows(PretendedKernel())) as (child, line):
        child.write(dump(CALL))
        await line.lost.wait()
    assert [message["id"] for message in line.messages] == [1]
    assert reasons(line) == ["it ended with exit code 3"]


def fill(child: ChildProcess, line: bytes) -> None:
    for _ in range(100):
        child.write(line)


async def test_through_threads_a_child_that_stops_reading_is_given_up_and_its_writer_ends() -> None:
    before = set(descriptors())
    async with child_of(launch_of({"hang": True}), pretended_windows(PretendedKernel())) as (child, line):
        with pytest.raises(UpstreamGone):
            fill(child, b'{"x":"%s"}\n' % (b"y" * (1 << 20)))
        await line.lost.wait()
    assert reasons(line) == ["it has stopped reading its standard input"]
    await until(lambda: set(descriptors()) <= before)


def test_windows_is_asked_for_a_suspended_child_without_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, dict[str, object]]] = []
    monkeypatch.setattr("os.path.isfile", r"C:\node\npx.cmd".__eq__)
    monkeypatch.setattr("subprocess.Popen", lambda line, **options: asked.append((line, options)))
    popen(["npx", "-y", "server"], {"PATH": "ours", "Path": r"C:\node", "SYSTEMROOT": r"D:\Windows"}, None)
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    assert asked == [
        (
            r'cmd.exe /d /s /v:off /c ""C:\node\npx.cmd" -y server"',
            {
                "executable": r"D:\Windows\System32\cmd.exe",
                "env": {"Path": r"C:\node", "SYSTEMROOT": r"D:\Windows"},
                "cwd": None,
                **pipes,
                "bufsize": 0,
                "creationflags": 0x0800_0004,
            },
        )
    ]


class Clock(PretendedKernel):
    """A kernel with one process."""

    def __init__(self, code: int, *refuses: str) -> None:
        super().__init__(*refuses)
        self._code = code

    def _GetExitCodeProcess(self, _process: int, where: int) -> int:  # noqa: N802
        ctypes.c_uint32.from_address(where).value = self._code
        return 1

    def _GetProcessTimes(self, _process: int, *where: int) -> int:  # noqa: N802
        for number, address in enumerate(where):
            ctypes.c_uint64.from_address(address).value = (number + 1) << 40
        return 1


@pytest.mark.parametrize(
    ("kernel", "pid", "born"),
    [
        (Clock(259), 7, str(1 << 40)),
        (Clock(0), 7, None),
        (Clock(259, "OpenProcess"), 7, ""),
        (Clock(259, "GetProcessTimes"), 7, ""),
        (Clock(259), 0, None),
        (Clock(259), 1 << 32, None),
    ],
)
def test_a_process_is_known_by_when_it_was_born(kernel: Clock, pid: int, born: str | None) -> None:
    assert birth(kernel, pid) == born
    assert kernel.open == {}
