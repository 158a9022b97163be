"""A gateway at an address has one id, which it keeps."""

from pathlib import Path

import pytest

from server.node import kept_node


def test_the_id_outlives_its_process_and_belongs_to_one_address_and_its_files(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    first = kept_node(tmp_path, "127.0.0.1:1", [config])
    assert kept_node(tmp_path, "127.0.0.1:1", [config]) == first
    assert kept_node(tmp_path, "127.0.0.1:2", [config]) != first
    assert kept_node(tmp_path, "127.0.0.1:1", [tmp_path / "other.json"]) != first
    assert kept_node(tmp_path / "elsewhere", "127.0.0.1:1", [config]) != first


@pytest.mark.parametrize("content", [b"", b"\xff" * 16, b"0" * 17, b"x" * 1000])
def test_a_file_that_holds_no_id_is_replaced(tmp_path: Path, content: bytes) -> None:
    first = kept_node(tmp_path, "a", [])
    [path] = (tmp_path / "nodes").iterdir()
    path.write_bytes(content)
    second = kept_node(tmp_path, "a", [])
    assert second not in (first, content.decode("latin-1"))
    assert kept_node(tmp_path, "a", []) == second


def test_where_nothing_can_be_kept_there_is_an_id_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("a file where the folder should be")
    assert kept_node(tmp_path, "a", []) != kept_node(tmp_path, "a", [])
