import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from server.config.files import FileText, read_text
from server.config.findings import ConfigError

posix_only = pytest.mark.skipif(os.name != "posix", reason="mode bits and pipes are POSIX")


def test_a_private_file_is_read(write: Callable[..., Path]) -> None:
    assert read_text(write("ä\n"), 100) == FileText("ä\n", is_group_writable=False)


def test_a_byte_order_mark_is_left_out(write: Callable[..., Path]) -> None:
    assert read_text(write("\ufeff{}"), 100).text == "{}"


@posix_only
@pytest.mark.parametrize(("mode", "is_group_writable"), [(0o644, False), (0o660, True), (0o664, True), (0o600, False)])
def test_a_file_that_its_group_may_change_is_told_apart(
    write: Callable[..., Path], mode: int, is_group_writable: bool
) -> None:
    assert read_text(write("{}", mode=mode), 100).is_group_writable is is_group_writable


@posix_only
@pytest.mark.parametrize("mode", [0o666, 0o602, 0o777])
def test_a_file_that_everyone_may_change_is_refused_with_the_command_that_mends_it(
    write: Callable[..., Path], mode: int
) -> None:
    path = write("{}", name="my files/mcp.json", mode=mode)
    with pytest.raises(ConfigError) as caught:
        read_text(path, 100)
    assert caught.value.code == "config_writable_by_all"
    assert caught.value.hint == f"Run: chmod o-w '{path}'"


@posix_only
def test_the_file_behind_a_link_is_the_one_that_is_judged(write: Callable[..., Path], tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(write("{}", mode=0o666))
    with pytest.raises(ConfigError) as caught:
        read_text(link, 100)
    assert caught.value.code == "config_writable_by_all"


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so the test gives that up for a moment."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@posix_only
def test_a_file_that_we_may_not_read_is_refused(write: Callable[..., Path]) -> None:
    path = write("{}", mode=0o000)
    with as_nobody(), pytest.raises(ConfigError) as caught:
        read_text(path, 100)
    assert caught.value.code == "config_unreadable"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_text(tmp_path / "nowhere.json", 100)
    assert caught.value.code == "config_missing"
    assert "nowhere.json" in str(caught.value)


def test_a_path_that_no_system_takes_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        read_text(Path("a\0b"), 100)
    assert caught.value.code == "config_unreadable"


@posix_only
def test_a_folder_and_a_pipe_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ConfigError) as caught:
            read_text(path, 100)
        assert caught.value.code == "config_not_a_file"


def test_a_file_over_the_cap_is_refused_and_one_at_the_cap_is_read(write: Callable[..., Path]) -> None:
    path = write("x" * 100)
    assert len(read_text(path, 100).text) == 100
    with pytest.raises(ConfigError) as caught:
        read_text(path, 99)
    assert caught.value.code == "config_too_large"


@pytest.mark.parametrize(
    ("content", "place"), [(b"{\n  \xff}", ":2:3:"), (b"\xff\xfe{\0}\0", ":1:1:"), (b"ab\xc3", ":1:3:")]
)
def test_text_that_is_not_utf_8_is_refused_with_its_place(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ConfigError) as caught:
        read_text(path, 100)
    assert caught.value.code == "config_not_text"
    assert f"{path}{place}" in caught.value.message
