"""The Windows kernel's own functions, and what is made of them: Job Objects, and when a process was born.

The only file that calls them. `Kernel` is the seam: what stands above it runs anywhere, `SystemKernel` on Windows alone.

Laws
1. When the last handle of a job is closed, by us or by the system after a hard kill of this process, everything in the
   job is ended. So nobody inherits these handles, and Windows needs no watchdog.
2. Every handle that is opened here is closed here, whatever fails in between.
"""

import ctypes
import errno
import sys
from collections.abc import Mapping
from ctypes import c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p, c_wchar_p
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final, Protocol

EXTENDED_LIMITS: Final = 9
KILL_ON_JOB_CLOSE: Final = 0x2000
TERMINATE: Final = 0x0001
SET_QUOTA: Final = 0x0100
SUSPEND_RESUME: Final = 0x0800
QUERY_LIMITED_INFORMATION: Final = 0x1000
STILL_ACTIVE: Final = 259

ENDED_BY_US: Final = 1
"""The exit code of what is ended with its job; Windows' own tools use it, too."""

LARGEST_PID: Final = 0xFFFF_FFFF


class Kernel(Protocol):
    """Functions of the system by their names."""

    def call(self, name: str, *arguments: int | str | None) -> int:
        """What the function answers. Raises OSError when it fails."""


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION, its inner structures laid out flat."""

    _fields_: ClassVar = [
        ("per_process_user_time", c_int64),
        ("per_job_user_time", c_int64),
        ("limit_flags", c_uint32),
        ("minimum_working_set", c_size_t),
        ("maximum_working_set", c_size_t),
        ("active_processes", c_uint32),
        ("affinity", c_size_t),
        ("priority_class", c_uint32),
        ("scheduling_class", c_uint32),
        ("io_counters", c_uint64 * 6),
        ("process_memory", c_size_t),
        ("job_memory", c_size_t),
        ("peak_process_memory", c_size_t),
        ("peak_job_memory", c_size_t),
    ]


class Job:
    """A Job Object: a child and all that it starts. Raises OSError when there can be none."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._handle = kernel.call("CreateJobObjectW", None, None)
        limits = ExtendedLimits(limit_flags=KILL_ON_JOB_CLOSE)
        where, size = ctypes.addressof(limits), ctypes.sizeof(limits)
        try:
            kernel.call("SetInformationJobObject", self._handle, EXTENDED_LIMITS, where, size)
        except OSError:
            self._close()
            raise

    def take(self, pid: int) -> None:
        """Takes in a process that was started suspended, and lets it run: it has started nothing yet. Raises OSError."""
        process = self._kernel.call("OpenProcess", TERMINATE | SET_QUOTA | SUSPEND_RESUME, 0, pid)
        try:
            self._kernel.call("AssignProcessToJobObject", self._handle, process)
            self._kernel.call("NtResumeProcess", process)
        finally:
            self._kernel.call("CloseHandle", process)

    def end(self) -> None:
        """Ends everything in it. The job is of no use afterwards."""
        try:
            self._kernel.call("TerminateJobObject", self._handle, ENDED_BY_US)
        except OSError:
            return  # closing ends them, too
        finally:
            self._close()

    def _close(self) -> None:
        self._kernel.call("CloseHandle", self._handle)


def birth(kernel: Kernel, pid: int) -> str | None:
    """When a process was started, in Windows' own units; "" if that can't be asked, None if none of this number runs."""
    if not 0 < pid <= LARGEST_PID:
        return None
    try:
        process = kernel.call("OpenProcess", QUERY_LIMITED_INFORMATION, 0, pid)
    except PermissionError:
        return ""  # another user's
    except OSError:
        return None
    try:
        return _birth_of(kernel, process)
    except OSError:
        return ""
    finally:
        kernel.call("CloseHandle", process)


def _birth_of(kernel: Kernel, process: int) -> str | None:
    code = c_uint32()
    kernel.call("GetExitCodeProcess", process, ctypes.addressof(code))
    if code.value != STILL_ACTIVE:
        return None  # somebody still holds a handle of a process that has ended
    times = (c_uint64 * 4)()  # started, ended, in the kernel, in the program
    where = [ctypes.addressof(times) + number * ctypes.sizeof(c_uint64) for number in range(4)]
    kernel.call("GetProcessTimes", process, *where)
    return str(times[0])


@dataclass(frozen=True, slots=True)
class Signature:
    """How a function is called. Those of ntdll answer 0 when all is well, those of kernel32 when it is not."""

    library: str
    result: type[c_int] | type[c_void_p]
    arguments: tuple[type[c_int] | type[c_uint32] | type[c_void_p] | type[c_wchar_p], ...]


SIGNATURES: Final[Mapping[str, Signature]] = MappingProxyType(
    {
        "CreateJobObjectW": Signature("kernel32", c_void_p, (c_void_p, c_wchar_p)),
        "SetInformationJobObject": Signature("kernel32", c_int, (c_void_p, c_int, c_void_p, c_uint32)),
        "AssignProcessToJobObject": Signature("kernel32", c_int, (c_void_p, c_void_p)),
        "TerminateJobObject": Signature("kernel32", c_int, (c_void_p, c_uint32)),
        "OpenProcess": Signature("kernel32", c_void_p, (c_uint32, c_int, c_uint32)),
        "GetExitCodeProcess": Signature("kernel32", c_int, (c_void_p, c_void_p)),
        "GetProcessTimes": Signature("kernel32", c_int, (c_void_p,) * 5),
        "CloseHandle": Signature("kernel32", c_int, (c_void_p,)),
        "NtResumeProcess": Signature("ntdll", c_int, (c_void_p,)),  # `subprocess` keeps no handle of the first thread
    }
)
"""A handle is as wide as a pointer: without these types it would be cut to 32 bits."""

if sys.platform == "win32":

    class SystemKernel:
        """See `Kernel`."""

        def __init__(self) -> None:
            libraries = {signature.library for signature in SIGNATURES.values()}
            self._libraries = {name: ctypes.WinDLL(name, use_last_error=True) for name in libraries}

        def call(self, name: str, *arguments: int | str | None) -> int:
            signature = SIGNATURES[name]
            function = self._libraries[signature.library][name]
            function.restype, function.argtypes = signature.result, signature.arguments
            answer: int = function(*arguments) or 0
            if signature.library == "ntdll" and answer:
                raise OSError(errno.EIO, f"{name} failed with status {answer & 0xFFFF_FFFF:#010x}")
            if signature.library == "kernel32" and not answer:
                raise ctypes.WinError(ctypes.get_last_error())
            return answer
