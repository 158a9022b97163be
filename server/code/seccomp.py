"""The Linux kernel's part of the wall: which system calls a code child may make, as a filter program. Pure.

A list of what is allowed; the kernel refuses all else. It is what Node, V8 and the C library were seen to need, and their
close relatives on other versions: memory, threads, clocks, reading files, and the pipes that are open already. So there
is no socket, no other process, no signal to anyone, and no file is opened for writing, whatever runs in the child.

Laws
1. What is not named here is refused, so that a call that a later kernel brings is refused, too.
2. Arguments are judged by value only: what a pointer leads to could be changed after the look.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

PROGRAM_DESCRIPTOR: Final = 9
"""On which the launcher holds the one program that may be executed."""

AT_EMPTY_PATH: Final = 0x1000

_ALLOW: Final = 0x7FFF0000
_KILL_PROCESS: Final = 0x80000000
_REFUSE: Final = 0x00050000
_EPERM: Final = 1
_ENOSYS: Final = 38

_LOAD_WORD: Final = 0x20
_JUMP_IF_EQUAL: Final = 0x15
_AND: Final = 0x54
_RETURN: Final = 0x06

_AT_NUMBER: Final = 0
_AT_ARCHITECTURE: Final = 4
_AT_ARGUMENTS: Final = 16

_WRITING: Final = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20000000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND and the bit of O_TMPFILE; the same on both machines."""

_THREAD: Final = 0x00010100
_THREAD_OR_NAMESPACE: Final = 0x7E030180
"""CLONE_VM and CLONE_THREAD must be set, and of CLONE_NEW… nothing."""

_PLAIN_IOCTLS: Final = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Is it a terminal, how wide, how much is there to read, blocking or not, closed by exec or not."""

_PLAIN_FCNTLS: Final = (0, 1, 2, 3, 4, 1030)
"""Duplicates and flags. None of those that name a process, which the kernel would then send signals."""

_PLAIN_PRCTLS: Final = (3, 15, 16, 0x53564D41)
"""Names of threads and of memory. The parent-death signal can't be taken back."""

# name, number on x86-64, number on arm64; - where a machine does not have it
_ALLOWED: Final = """
read 0 63 | write 1 64 | readv 19 65 | writev 20 66 | pread64 17 67 | lseek 8 62 | close 3 57 | close_range 436 436
dup 32 23 | dup2 33 - | dup3 292 24 | pipe 22 - | pipe2 293 59 | eventfd 284 - | eventfd2 290 19
poll 7 - | ppoll 271 73 | select 23 - | pselect6 270 72
epoll_create 213 - | epoll_create1 291 20 | epoll_ctl 233 21 | epoll_wait 232 - | epoll_pwait 281 22
epoll_pwait2 441 441 | timerfd_create 283 85 | timerfd_settime 286 86 | timerfd_gettime 287 87
stat 4 - | lstat 6 - | fstat 5 80 | newfstatat 262 79 | statx 332 291 | fstatfs 138 44 | statfs 137 43
access 21 - | faccessat 269 48 | faccessat2 439 439 | readlink 89 - | readlinkat 267 78
getdents 78 - | getdents64 217 61 | getcwd 79 17
brk 12 214 | mmap 9 222 | munmap 11 215 | mprotect 10 226 | mremap 25 216 | madvise 28 233 | membarrier 324 283
pkey_alloc 330 289 | pkey_free 331 290 | pkey_mprotect 329 288 | mincore 27 232 | msync 26 227
futex 202 98 | set_robust_list 273 99 | get_robust_list 274 100 | rseq 334 293 | set_tid_address 218 96
sched_yield 24 124 | sched_getaffinity 204 123 | sched_getparam 143 121 | sched_getscheduler 145 120
rt_sigaction 13 134 | rt_sigprocmask 14 135 | rt_sigreturn 15 139 | sigaltstack 131 132 | rt_sigtimedwait 128 137
restart_syscall 219 128 | pause 34 - | nanosleep 35 101 | clock_nanosleep 230 115
clock_gettime 228 113 | clock_getres 229 114 | gettimeofday 96 169 | time 201 - | times 100 153
getpid 39 172 | gettid 186 178 | getppid 110 173 | getpgrp 111 - | getpgid 121 155 | getsid 124 156
getuid 102 174 | geteuid 107 175 | getgid 104 176 | getegid 108 177 | getgroups 115 158
getresuid 118 148 | getresgid 120 150 | capget 125 90 | getpriority 140 141 | getrusage 98 165 | getrlimit 97 163
uname 63 160 | sysinfo 99 179 | getrandom 318 278 | arch_prctl 158 - | getcpu 309 168 | exit 60 93 | exit_group 231 94
"""

# As if the kernel were too old for them: the C library and Node then use a way that can be judged.
_UNKNOWN: Final = "clone3 435 435 | openat2 437 437 | io_uring_setup 425 425"


@dataclass(frozen=True, slots=True)
class _Condition:
    """Of the low half of one argument, `mask` cut out, `values` are good."""

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


# The same form as above, then what must hold of the arguments.
_CONDITIONAL: Final[tuple[tuple[str, tuple[_Condition, ...]], ...]] = (
    ("openat 257 56", (_Condition(2, (0,), _WRITING),)),
    ("open 2 -", (_Condition(1, (0,), _WRITING),)),
    ("clone 56 220", (_Condition(0, (_THREAD,), _THREAD_OR_NAMESPACE),)),
    ("execveat 322 281", (_Condition(0, (PROGRAM_DESCRIPTOR,)), _Condition(4, (AT_EMPTY_PATH,)))),
    ("prctl 157 167", (_Condition(0, _PLAIN_PRCTLS),)),
    ("ioctl 16 29", (_Condition(1, _PLAIN_IOCTLS),)),
    ("fcntl 72 25", (_Condition(1, _PLAIN_FCNTLS),)),
    ("prlimit64 302 261", (_Condition(0, (0,)),)),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """How the kernel calls it, and which column is its own."""

    audit: int
    column: int
    execveat: int


MACHINES: Final = MappingProxyType(
    {
        "x86_64": Machine(0xC000003E, 1, 322),
        "aarch64": Machine(0xC00000B7, 2, 281),
    }
)


def filter_program(machine: Machine) -> bytes:
    """The filter as the kernel takes it: eight bytes an instruction."""
    program = [_load(_AT_ARCHITECTURE), _jump(machine.audit, 1, 0), _return(_KILL_PROCESS), _load(_AT_NUMBER)]
    for _name, number in _numbers(_ALLOWED, machine):
        program += [_jump(number, 0, 1), _return(_ALLOW)]
    for _name, number in _numbers(_UNKNOWN, machine):
        program += [_jump(number, 0, 1), _return(_REFUSE | _ENOSYS)]
    for entry, conditions in _CONDITIONAL:
        for _name, number in _numbers(entry, machine):
            body = _judged(conditions)
            program += [_jump(number, 0, len(body)), *body]
    program.append(_return(_REFUSE | _EPERM))
    return b"".join(program)


def allowed_names(machine: Machine) -> frozenset[str]:
    """The calls that are let through, some of them under conditions."""
    entries = (_ALLOWED, *(entry for entry, _conditions in _CONDITIONAL))
    return frozenset(name for entry in entries for name, _number in _numbers(entry, machine))


def _numbers(table: str, machine: Machine) -> Iterator[tuple[str, int]]:
    for line in table.strip().splitlines():
        for entry in line.split("|"):
            columns = entry.split()
            if columns[machine.column] != "-":
                yield columns[0], int(columns[machine.column])


def _judged(conditions: tuple[_Condition, ...]) -> list[bytes]:
    """Allows if every condition holds, else refuses."""
    body: list[bytes] = []
    for condition in conditions:
        body.append(_load(_AT_ARGUMENTS + 8 * condition.argument))  # both machines are little-endian
        if condition.mask != 0xFFFFFFFF:
            body.append(struct.pack("=HBBI", _AND, 0, 0, condition.mask))
        left = len(condition.values)
        for value in condition.values:  # past the other values and the refusal, or on to the next
            body.append(_jump(value, left, 0))
            left -= 1
        body.append(_return(_REFUSE | _EPERM))
    return [*body, _return(_ALLOW)]


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD_WORD, 0, 0, offset)


def _jump(value: int, if_equal: int, otherwise: int) -> bytes:
    """Skips so many instructions."""
    return struct.pack("=HBBI", _JUMP_IF_EQUAL, if_equal, otherwise, value)


def _return(verdict: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, verdict)
