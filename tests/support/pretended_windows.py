"""Windows' platform on a POSIX machine: real children, real pipes, real threads, over a kernel that only pretends.

The kernel keeps jobs and handles as Windows does, as far as the platform can tell, and writes down every call. A job's
processes are those of a POSIX group; a suspended one is a stopped one.
"""

import asyncio
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

import pytest

from server.cli import main as toolfold
from upstream_clients.platform.windows import Windows
from upstream_clients.platform.windows_kernel import KILL_ON_JOB_CLOSE, ExtendedLimits

Call: TypeAlias = tuple[str, *tuple[object, ...]]


@dataclass(slots=True)
class _Job:
    flags: int = 0
    groups: list[int] = field(default_factory=list)


class PretendedKernel:
    """See `Kernel`. `refuses` names functions that fail."""

    def __init__(self, *refuses: str) -> None:
        self.refuses = frozenset(refuses)
        self.called: list[str] = []
        self.open: dict[int, _Job | int] = {}
        self._next = 0x1_0000_0004  # more than 32 bits, as a handle may have

    def call(self, name: str, *arguments: int | str | None) -> int:
        self.called.append(name)
        if name in self.refuses:
            raise PermissionError(13, "Access is denied")
        answer: int = getattr(self, f"_{name}")(*arguments)
        return answer

    def _opened(self, what: "_Job | int") -> int:
        self._next += 4
        self.open[self._next] = what
        return self._next

    def _CreateJobObjectW(self, _attributes: None, _name: None) -> int:  # noqa: N802
        return self._opened(_Job())

    def _SetInformationJobObject(self, handle: int, _kind: int, where: int, size: int) -> int:  # noqa: N802
        assert size == 144  # what Windows expects on 64 bits
        self._job(handle).flags = ExtendedLimits.from_address(where).limit_flags
        return 1

    def _OpenProcess(self, _rights: int, _inherit: int, pid: int) -> int:  # noqa: N802
        return self._opened(pid)

    def _AssignProcessToJobObject(self, handle: int, process: int) -> int:  # noqa: N802
        self._job(handle).groups.append(self._pid(process))
        return 1

    def _NtResumeProcess(self, process: int) -> int:  # noqa: N802
        os.kill(self._pid(process), signal.SIGCONT)
        return 0

    def _TerminateJobObject(self, handle: int, _code: int) -> int:  # noqa: N802
        self._end(self._job(handle))
        return 1

    def _CloseHandle(self, handle: int) -> int:  # noqa: N802
        closed = self.open.pop(handle)
        if isinstance(closed, _Job) and closed.flags & KILL_ON_JOB_CLOSE:
            self._end(closed)
        return 1

    def _job(self, handle: int) -> _Job:
        job = self.open[handle]
        assert isinstance(job, _Job)
        return job

    def _pid(self, handle: int) -> int:
        pid = self.open[handle]
        assert isinstance(pid, int)
        return pid

    def _end(self, job: _Job) -> None:
        for group in job.groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def pretended_windows(kernel: PretendedKernel) -> Windows:
    """For the running event loop."""
    return Windows(asyncio.get_running_loop(), kernel, _spawn)


def _spawn(argv: list[str], env: dict[str, str], cwd: str | None) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        argv, env=env, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
    )
    os.kill(process.pid, signal.SIGSTOP)
    return process


def main() -> None:
    """The `toolfold` command with all that Windows does otherwise, as far as it can be done here."""
    kernel = PretendedKernel()
    patch = pytest.MonkeyPatch()
    for user in ("fleet", "program"):
        patch.setattr(f"upstream_clients.{user}.current_platform", lambda: pretended_windows(kernel))
    patch.setattr("server.host_pipe._is_waitable", lambda _descriptor: False)
    toolfold()


if __name__ == "__main__":
    main()
