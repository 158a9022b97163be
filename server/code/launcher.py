"""The launcher: puts the walls of the operating system around itself, and then becomes Node. Linux only.

Runs as a script (`python -I -S launcher.py NUMBERS LIMITS FILTER PROGRAM ARGUMENT…`), so it imports the standard library
only, and of that little (`json` would take as long as all the rest). NUMBERS and LIMITS are written `name=1,name=2`, FILTER
is hexadecimal. It has no environment and starts no other process; from the filter on, it can do nothing but become PROGRAM.

What stands around the child afterwards: a parent-death signal, no new privileges, resource limits, Landlock where the
kernel has it (files: reading what Node is made of), and the filter of `seccomp.py`. Whatever can't be put up ends it.
"""

import ctypes
import os
import resource
import signal
import struct
import sys

assert sys.platform == "linux"  # for the type checker, too: much of what is used exists there alone

NO_NEW_PRIVILEGES = 38
PARENT_DEATH_SIGNAL = 1
SECCOMP = 22
SECCOMP_FILTER = 2

LANDLOCK_CREATE = 444  # the numbers are the same on every machine
LANDLOCK_ADD = 445
LANDLOCK_RESTRICT = 446
LANDLOCK_VERSION = 1
BENEATH_A_PATH = 1

EXECUTE, READ_FILE = 1, 4
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many kinds of access each version of Landlock knows; one that is not asked for stays allowed."""

WHAT_NODE_IS_MADE_OF = (
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/nix/store",
    "/gnu/store",
)
WHAT_NODE_READS = (
    *("/etc/ld.so.cache", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path", "/dev/null", "/dev/urandom"),
    *("/proc/meminfo", "/proc/cpuinfo", "/proc/sys/vm", "/sys/devices/system/cpu", "/sys/fs/cgroup"),
    *("/proc/self/maps", "/proc/self/cgroup", "/proc/self/stat", "/proc/self/status"),
)

UNUSABLE = 97
"""The exit code, with the reason on standard error."""

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    numbers, limits, filter_program = pairs(sys.argv[1]), pairs(sys.argv[2]), bytes.fromhex(sys.argv[3])
    program, arguments = sys.argv[4], sys.argv[4:]
    prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != numbers["parent"]:
        sys.exit("the parent has gone")
    for name, wished in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        most = wished if hard == resource.RLIM_INFINITY else min(wished, hard)
        resource.setrlimit(kind, (most, most))
    os.dup2(os.open(program, os.O_RDONLY), numbers["descriptor"], inheritable=False)
    prctl(NO_NEW_PRIVILEGES, 1)
    landlock(program)
    become(filter_program, numbers, arguments)


def pairs(text: str) -> "dict[str, int]":
    return {name: int(value) for name, _, value in (pair.partition("=") for pair in text.split(","))}


def become(filter_program: bytes, numbers: "dict[str, int]", arguments: "list[str]") -> None:
    """Nothing may be allocated by the system between the filter and the end: all is made before."""
    vector = (ctypes.c_char_p * (len(arguments) + 1))(*(os.fsencode(word) for word in arguments), None)
    environment = (ctypes.c_char_p * 1)(None)
    execveat = (numbers["execveat"], numbers["descriptor"], b"", vector, environment, numbers["empty_path"])
    code = ctypes.create_string_buffer(filter_program, len(filter_program))
    pointer = struct.pack("@HP", len(filter_program) // 8, ctypes.addressof(code))  # struct sock_fprog
    prctl(SECCOMP, SECCOMP_FILTER, ctypes.create_string_buffer(pointer, len(pointer)))
    libc.syscall(*execveat)
    fail("execveat")


def landlock(program: str) -> None:
    """Closes the file system but for reading what Node is made of, and, on newer kernels, ports and foreign sockets."""
    version = libc.syscall(LANDLOCK_CREATE, None, 0, LANDLOCK_VERSION)
    if version < 1:
        return  # not in this kernel: the filter and Node's own permissions stand without it
    rights = (1 << FILE_RIGHTS.get(version, FILE_RIGHTS[max(FILE_RIGHTS)])) - 1
    attributes = struct.pack("=QQQ", rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(LANDLOCK_CREATE, attributes, size, 0)
    if ruleset < 0:
        fail("landlock")
    beside = os.path.join(os.path.dirname(os.path.dirname(program)), "lib")
    for path in (program, beside, *WHAT_NODE_IS_MADE_OF):
        grant(ruleset, path, READ_FILE | EXECUTE)
    for path in WHAT_NODE_READS:
        grant(ruleset, path, READ_FILE)
    if libc.syscall(LANDLOCK_RESTRICT, ruleset, 0) != 0:
        fail("landlock")
    os.close(ruleset)


def grant(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    libc.syscall(LANDLOCK_ADD, ruleset, BENEATH_A_PATH, struct.pack("=Qi", access, descriptor), 0)
    os.close(descriptor)


def prctl(option: int, value: object, more: object = 0) -> None:
    if libc.prctl(option, value, more, 0, 0) != 0:
        fail(f"prctl {option}")


def fail(what: str) -> None:
    sys.stderr.write(f"{what}: {os.strerror(ctypes.get_errno())}\n")
    sys.stderr.flush()
    os._exit(UNUSABLE)


if __name__ == "__main__":
    main()
