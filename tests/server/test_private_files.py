"""Files for this user alone, replaced whole."""

import logging
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from server.private_files import Complaint, make_private_folder, read_file, replace_file


@pytest.fixture(autouse=True)
def an_open_umask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_file_and_every_folder_made_for_it_are_private(tmp_path: Path) -> None:
    replace_file(tmp_path / "cache" / "toolfold" / "listings" / "one.json", b"{}")
    assert mode(tmp_path / "cache" / "toolfold" / "listings" / "one.json") == 0o600
    made = ("cache", "cache/toolfold", "cache/toolfold/listings")
    assert {folder: mode(tmp_path / folder) for folder in made} == dict.fromkeys(made, 0o700)


def test_a_folder_that_is_there_already_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    make_private_folder(folder / "own")
    assert (mode(folder), mode(folder / "own")) == (0o755, 0o700)


def test_a_replaced_file_is_private_again(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    replace_file(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", 0o600)


def test_a_link_is_replaced_and_what_it_points_to_is_not_touched(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"precious")
    link.symlink_to(target)
    replace_file(link, b"new")
    assert (target.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"precious", b"new", False)


def test_a_failed_replacement_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "inside").touch()
    with pytest.raises(OSError, match="folder"):
        replace_file(path, b"new")
    assert [child.name for child in tmp_path.iterdir()] == ["folder"]


def test_a_reader_beside_a_writer_sees_whole_contents_only(tmp_path: Path) -> None:
    path, contents = tmp_path / "one", (b"a" * 300_000, b"b" * 200_000)
    replace_file(path, contents[0])
    seen: set[bytes | None] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(read_file(path, 1_000_000))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(100):
        replace_file(path, contents[turn % 2])
    done.set()
    reader.join()
    assert seen <= set(contents)


def test_a_missing_file_and_one_over_the_limit_are_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 11)
    (tmp_path / "full").write_bytes(b"x" * 10)
    assert [read_file(tmp_path / name, 10) for name in ("none", "big", "full")] == [None, None, b"x" * 10]


def test_a_pipe_in_place_of_a_file_is_as_good_as_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert read_file(tmp_path / "fifo", 10) is None


@pytest.mark.parametrize(("refusals", "tries", "content"), [(3, 5, b"new"), (9, 5, b"old")])
def test_where_a_reader_keeps_a_file_from_being_replaced_it_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusals: int, tries: int, content: bytes
) -> None:
    """As on Windows, for as long as somebody has the file open."""
    path = tmp_path / "one.json"
    path.write_bytes(b"old")
    replace, left = os.replace, [refusals]

    def held_open(source: str, target: Path) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise PermissionError
        replace(source, target)

    monkeypatch.setattr("os.replace", held_open)
    monkeypatch.setattr("server.private_files.REPLACE_TRIES", tries)
    with suppress(PermissionError):
        replace_file(path, b"new")
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["one.json"]


def test_that_nothing_can_be_written_is_said_once_until_something_could_be(caplog: pytest.LogCaptureFixture) -> None:
    complaint, full = Complaint(logging.getLogger("test")), OSError(28, "No space left on device")
    for what in ("one", "two"):
        complaint.make(what, full)
    complaint.withdraw()
    complaint.make("three", full)
    assert [record.message for record in caplog.records] == [
        "one (No space left on device)",
        "three (No space left on device)",
    ]
