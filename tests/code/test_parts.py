"""The parts that need no Node: frames, the system-call filter, the lock, and installing with an npm of our own."""

import json
import platform
import struct
import sys
import tarfile
from pathlib import Path

import pytest

from server.code.engine import LOADED, is_installed, lock, read_engine
from server.code.frames import FrameSplitter, FrameTooLong, frame
from server.code.install import install_engine
from server.code.node import Node
from server.code.seccomp import MACHINES, allowed_names, filter_program
from server.code.unavailable import Unavailable


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_frames_come_whole_however_the_bytes_come(size: int) -> None:
    bodies = [b"", b"a", b"bc" * 50, b"\0" * 5]
    stream = b"".join(map(frame, bodies))
    splitter = FrameSplitter(100)
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert [body for chunk in chunks for body in splitter.feed(chunk)] == bodies


def test_a_frame_over_the_limit_is_refused_by_its_length() -> None:
    with pytest.raises(FrameTooLong):
        FrameSplitter(100).feed(struct.pack(">I", 101))


# One evaluation of a filter as the kernel does it, for the few instructions that are used.
def verdict(program: bytes, audit: int, number: int, *arguments: int) -> int:
    call = struct.pack("=iIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    instructions = list(struct.iter_unpack("=HBBI", program))
    at, value = 0, 0
    while True:
        code, if_true, if_false, k = instructions[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", call, k)
        elif code == 0x54:
            value &= k
        elif code == 0x15:
            at += if_true if value == k else if_false
        else:
            assert code == 0x06
            return int(k)


ALLOW, REFUSE, UNKNOWN, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
THREAD = 0x3D0F00


@pytest.mark.parametrize(
    ("machine", "number", "arguments", "expected"),
    [
        ("x86_64", 0, (), ALLOW),  # read
        ("x86_64", 257, (0, 0, 0o2000000), ALLOW),  # openat for reading
        ("x86_64", 257, (0, 0, 1), REFUSE),  # for writing
        ("x86_64", 257, (0, 0, 0o100), REFUSE),  # making it
        ("x86_64", 257, (0, 0, 0o20200000), REFUSE),  # O_TMPFILE
        ("x86_64", 2, (0, 2), REFUSE),  # open
        ("x86_64", 437, (), UNKNOWN),  # openat2
        ("x86_64", 435, (), UNKNOWN),  # clone3
        ("x86_64", 425, (), UNKNOWN),  # io_uring_setup
        ("x86_64", 41, (), REFUSE),  # socket
        ("x86_64", 53, (), REFUSE),  # socketpair
        ("x86_64", 42, (), REFUSE),  # connect
        ("x86_64", 56, (THREAD,), ALLOW),  # clone of a thread
        ("x86_64", 56, (17,), REFUSE),  # of a process
        ("x86_64", 56, (THREAD | 0x40000000,), REFUSE),  # with a network of its own
        ("x86_64", 57, (), REFUSE),  # fork
        ("x86_64", 58, (), REFUSE),  # vfork
        ("x86_64", 59, (), REFUSE),  # execve
        ("x86_64", 322, (9, 0, 0, 0, 0x1000), ALLOW),  # execveat of the one program
        ("x86_64", 322, (8, 0, 0, 0, 0x1000), REFUSE),
        ("x86_64", 322, (9, 0, 0, 0, 0), REFUSE),
        ("x86_64", 62, (), REFUSE),  # kill
        ("x86_64", 234, (), REFUSE),  # tgkill
        ("x86_64", 72, (0, 8), REFUSE),  # fcntl F_SETOWN
        ("x86_64", 157, (1,), REFUSE),  # prctl PR_SET_PDEATHSIG
        ("x86_64", 16, (0, 0x5412), REFUSE),  # ioctl TIOCSTI
        ("x86_64", 302, (1,), REFUSE),  # prlimit64 of another process
        ("x86_64", 101, (), REFUSE),  # ptrace
        ("x86_64", 0x40000000, (), REFUSE),  # the x32 way to read
        ("x86_64", 999, (), REFUSE),  # what there is not yet
        ("aarch64", 63, (), ALLOW),  # read
        ("aarch64", 56, (0, 0, 0o2000000), ALLOW),
        ("aarch64", 56, (0, 0, 1), REFUSE),
        ("aarch64", 198, (), REFUSE),  # socket
        ("aarch64", 220, (17,), REFUSE),
        ("aarch64", 220, (THREAD,), ALLOW),
        ("aarch64", 221, (), REFUSE),  # execve
        ("aarch64", 129, (), REFUSE),  # kill
        ("aarch64", 281, (9, 0, 0, 0, 0x1000), ALLOW),
    ],
)
def test_the_filter_judges(machine: str, number: int, arguments: tuple[int, ...], expected: int) -> None:
    of = MACHINES[machine]
    assert verdict(filter_program(of), of.audit, number, *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_another_machines_calls_end_the_process(machine: str) -> None:
    assert verdict(filter_program(MACHINES[machine]), 0x40000003, 0) == KILL


def test_no_call_that_reaches_out_is_let_through_anywhere() -> None:
    reaching = {
        "socket",
        "socketpair",
        "connect",
        "bind",
        "sendto",
        "fork",
        "vfork",
        "execve",
        "kill",
        "ptrace",
        "unlink",
    }
    reaching |= {
        "rename",
        "mkdir",
        "creat",
        "truncate",
        "mount",
        "setpriority",
        "memfd_create",
        "bpf",
        "chmod",
        "symlink",
    }
    assert all(not reaching & allowed_names(machine) for machine in MACHINES.values())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
def test_the_numbers_are_those_of_this_machine() -> None:
    header = Path("/usr/include", f"{platform.machine()}-linux-gnu", "asm/unistd_64.h")
    if not header.exists():
        pytest.skip(f"there is no {header}")
    words = [line.split() for line in header.read_text(encoding="utf-8").splitlines()]
    numbers = {word[1].removeprefix("__NR_"): int(word[2]) for word in words if len(word) == 3 and word[2].isdigit()}
    of = MACHINES[platform.machine()]
    program = filter_program(of)
    plain = allowed_names(of) - {"openat", "open", "clone", "execveat", "prctl", "ioctl", "fcntl", "prlimit64"}
    assert {name for name in plain if verdict(program, of.audit, numbers[name]) != ALLOW} == set()


@pytest.mark.parametrize(
    ("version", "flags"),
    [
        ((20, 20, 2), {"--experimental-permission"}),
        ((22, 4, 0), {"--experimental-permission"}),
        ((22, 23, 5), {"--experimental-permission", "--no-experimental-sqlite"}),
        ((24, 0, 0), {"--permission", "--no-experimental-sqlite"}),
        ((26, 10, 0), {"--permission", "--no-experimental-sqlite"}),
    ],
)
def test_each_node_gets_the_flags_that_it_knows(version: tuple[int, int, int], flags: set[str]) -> None:
    named = {flag for flag in Node("/node", version).flags if "permission" in flag or "sqlite" in flag}
    assert named == flags
    assert not [flag for flag in Node("/node", version).flags if flag.startswith("--allow")]


def npm(folder: Path, does: str) -> Path:
    """An npm that does this to the folder `$4`, which `--pack-destination` names."""
    path = folder / "npm"
    path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_lock_names_versions_integrities_and_hashes_of_all_that_is_loaded() -> None:
    assert {package.name for package in lock().packages} == {file.package for file in lock().files}
    assert all(package.integrity.startswith("sha512-") and package.version for package in lock().packages)
    assert set(LOADED) <= {file.name for file in lock().files}
    assert all(len(file.sha512) == 128 for file in lock().files)


def test_without_npm_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as failed:
        install_engine(tmp_path / "engine", None, {})
    assert (failed.value.why, failed.value.hint) == ("npm was not found", "Install Node.js with npm, and try again.")


@pytest.mark.parametrize("does", ["exit 1", "exit 0", 'echo x > "$4/a.tgz"', 'echo x > "$4/a"; echo x > "$4/b"'])
def test_what_is_not_as_it_was_locked_is_not_installed(tmp_path: Path, does: str) -> None:
    with pytest.raises(Unavailable) as failed:
        install_engine(tmp_path / "engine", npm(tmp_path, does), {"PATH": "/usr/bin:/bin"})
    assert failed.value.hint == "See whether npm reaches its registry: npm ping"
    assert not (tmp_path / "engine").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["npm"]


def test_npm_is_told_to_run_no_scripts(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with pytest.raises(Unavailable):
        install_engine(tmp_path / "engine", npm(tmp_path, f'echo "$@" > {said}; exit 1'), {"PATH": "/usr/bin:/bin"})
    first = lock().packages[0]
    words = said.read_text(encoding="utf-8").split()
    assert words[:2] == ["pack", f"{first.name}@{first.version}"]
    assert "--ignore-scripts" in words


def test_an_archive_of_another_content_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "index.js").write_text("evil", encoding="utf-8")
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        archive.add(tmp_path / "package" / "index.js", "../../evil.js")
    with pytest.raises(Unavailable) as failed:
        install_engine(tmp_path / "engine", npm(tmp_path, f'cp {tmp_path}/a.tgz "$4"'), {"PATH": "/usr/bin:/bin"})
    assert "not @jitl/quickjs-ffi-types@0.32.0 as it was locked" in str(failed.value)
    assert not (tmp_path.parent / "evil.js").exists()


def test_an_engine_that_is_missing_is_told(tmp_path: Path) -> None:
    assert not is_installed(tmp_path)
    with pytest.raises(Unavailable) as failed:
        read_engine(tmp_path)
    assert json.dumps(failed.value.hint) == '"Run: toolfold code install"'
