from pathlib import Path

import pytest
from mcp import Client
from mcp_types import TextContent

TANDEM = "Mrs Hopper collects the red tandem."

ESCAPES = [
    ("read_file", {"path": "../secret.txt"}, "../secret.txt: outside the root folder."),
    ("read_file", {"path": "notes/../../secret.txt"}, "notes/../../secret.txt: outside the root folder."),
    ("read_file", {"path": "secret-link.txt"}, "secret-link.txt: outside the root folder."),
    ("read_file", {"path": "way-out/secret.txt"}, "way-out/secret.txt: outside the root folder."),
    ("list_folder", {"path": "way-out"}, "way-out: outside the root folder."),
    ("search_text", {"text": "secret", "path": ".."}, "..: outside the root folder."),
    ("find_files", {"pattern": "*", "path": "way-out"}, "way-out: outside the root folder."),
    ("file_info", {"path": "secret-link.txt"}, "secret-link.txt: outside the root folder."),
    ("write_file", {"path": "way-out/new.txt", "content": ""}, "way-out/new.txt: outside the root folder."),
    (
        "write_file",
        {"path": "secret-link.txt", "content": "", "overwrite": True},
        "secret-link.txt: outside the root folder.",
    ),
    ("append_to_file", {"path": "way-out/secret.txt", "content": "x"}, "way-out/secret.txt: outside the root folder."),
    (
        "edit_file",
        {"path": "secret-link.txt", "old_text": "s", "new_text": ""},
        "secret-link.txt: outside the root folder.",
    ),
    ("move_file", {"path": "README.txt", "destination": "../taken.txt"}, "../taken.txt: outside the root folder."),
    ("move_file", {"path": "way-out/secret.txt", "destination": "a"}, "way-out/secret.txt: outside the root folder."),
    ("copy_file", {"path": "secret-link.txt", "destination": "a"}, "secret-link.txt: outside the root folder."),
    ("copy_file", {"path": "README.txt", "destination": "way-out/a"}, "way-out/a: outside the root folder."),
    ("delete_file", {"path": "way-out/secret.txt"}, "way-out/secret.txt: outside the root folder."),
    ("make_folder", {"path": "way-out/new"}, "way-out/new: outside the root folder."),
    (
        "delete_folder",
        {"path": "way-out/../root/notes/../../root"},
        "way-out/../root/notes/../../root: outside the root folder.",
    ),
]

REFUSED = [
    (
        "read_file",
        {"path": "/etc/passwd"},
        "'/etc/passwd': write paths relative to the root folder, with '/' between names.",
    ),
    (
        "read_file",
        {"path": "no/such.txt"},
        "no/such.txt: no such file. Use list_folder or find_files to see what is there.",
    ),
    ("read_file", {"path": "circle"}, "circle: cannot be followed."),
    ("read_file", {"path": "notes"}, "notes: not a regular file."),
    ("read_file", {"path": "pipe"}, "pipe: not a regular file."),
    ("read_file", {"path": "workshop.db"}, "workshop.db is not UTF-8 text of at most 1,048,576 bytes. Try file_info."),
    ("read_file", {"path": "README.txt", "first_line": 9}, "README.txt has 2 lines; there is no line 9."),
    (
        "write_file",
        {"path": "README.txt", "content": "gone"},
        "README.txt exists already. Set overwrite=true to replace it, or choose another name.",
    ),
    ("write_file", {"path": "README.txt/x", "content": ""}, "README.txt/x: File exists."),
    (
        "edit_file",
        {"path": "README.txt", "old_text": "o", "new_text": "0"},
        "README.txt contains that passage 8 times. Give a longer one, or set every=true.",
    ),
    (
        "move_file",
        {"path": "README.txt", "destination": "prices.csv"},
        "prices.csv: something is there already. Choose another name, or delete it first.",
    ),
    ("move_file", {"path": "notes", "destination": "notes/in"}, "notes/in: a folder cannot be moved into itself."),
    ("delete_file", {"path": "."}, ".: name a file or folder inside the root, not the root itself."),
    ("delete_file", {"path": "notes"}, "notes is a folder; use delete_folder."),
    ("delete_folder", {"path": "notes"}, "notes: Directory not empty."),
]


async def test_every_tool_says_what_it_does_and_whether_it_changes_anything(files: Client) -> None:
    tools = (await files.list_tools()).tools
    assert len(tools) == 13
    reading = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
    assert reading == {"list_folder", "read_file", "find_files", "search_text", "file_info"}
    assert all(tool.title and tool.description for tool in tools)


async def test_text_is_found_with_its_file_and_line(files: Client) -> None:
    found = await files.call_tool("search_text", {"text": "mrs hopper", "pattern": "*.txt"})
    assert found.structured_content == {
        "matches": [
            {"path": "notes/monday.txt", "line": 2, "text": TANDEM},
            {"path": "notes/tuesday.txt", "line": 2, "text": "The tandem needs a new chain; tell Mrs Hopper."},
        ],
        "more": False,
    }
    first = await files.call_tool("search_text", {"text": "mrs hopper", "limit": 1})
    assert first.structured_content is not None
    assert first.structured_content["more"] is True


async def test_a_link_that_stays_inside_is_followed(files: Client) -> None:
    read = await files.call_tool("read_file", {"path": "monday-link.txt", "first_line": 2})
    assert read.content == [TextContent(text=f"{TANDEM}\n")]


async def test_a_file_lives_from_writing_to_deleting(files: Client, root: Path) -> None:
    steps: list[tuple[str, dict[str, object], str, int]] = [
        ("write_file", {"path": "new/a.txt", "content": "one\r\n"}, "created new/a.txt", 5),
        ("append_to_file", {"path": "new/a.txt", "content": "two"}, "extended new/a.txt", 8),
        ("edit_file", {"path": "new/a.txt", "old_text": "one", "new_text": "ONE!"}, "edited new/a.txt", 9),
        ("copy_file", {"path": "new/a.txt", "destination": "new/b.txt"}, "copied new/b.txt", 9),
        ("move_file", {"path": "new/b.txt", "destination": "c/d.txt"}, "moved c/d.txt", 9),
    ]
    for tool, arguments, outcome, size in steps:
        change, path = outcome.split()
        result = await files.call_tool(tool, arguments)
        assert result.structured_content == {"path": path, "change": change, "size_bytes": size}, result.content
    found = await files.call_tool("find_files", {"pattern": "[ad].txt"})
    assert found.structured_content == {"files": ["c/d.txt", "new/a.txt"], "more": False}
    assert (root / "c/d.txt").read_bytes() == b"ONE!\r\ntwo"
    for tool, path in (("delete_file", "c/d.txt"), ("delete_folder", "c"), ("delete_file", "new/a.txt")):
        assert not (await files.call_tool(tool, {"path": path})).is_error
    assert not (root / "c").exists()
    assert list((root / "new").iterdir()) == []


async def test_deleting_a_link_leaves_what_it_points_at(files: Client, root: Path) -> None:
    (root / "tuesday-link.txt").symlink_to("notes/tuesday.txt")
    assert not (await files.call_tool("delete_file", {"path": "tuesday-link.txt"})).is_error
    assert not (root / "tuesday-link.txt").is_symlink()
    assert (root / "notes/tuesday.txt").is_file()


@pytest.mark.parametrize(("tool", "arguments", "reason"), ESCAPES)
async def test_no_path_leaves_the_root(
    files: Client, root: Path, tool: str, arguments: dict[str, object], reason: str
) -> None:
    result = await files.call_tool(tool, arguments)
    assert result.is_error
    assert result.content == [
        TextContent(text=f"Error executing tool {tool}: {reason} Only what lies inside it can be used.")
    ]
    assert sorted(found.name for found in root.parent.iterdir()) == ["root", "secret.txt"]
    assert (root.parent / "secret.txt").read_text(encoding="utf-8") == "secret"


async def test_a_circle_of_links_does_not_hide_a_way_out(files: Client) -> None:
    """Pythons differ in how far they follow such a path, and so in the reason, but not in the answer."""
    result = await files.call_tool("read_file", {"path": "circle/../way-out/secret.txt"})
    assert result.is_error


@pytest.mark.parametrize(("tool", "arguments", "reason"), REFUSED)
async def test_what_cannot_be_done_is_refused_with_the_reason(
    files: Client, tool: str, arguments: dict[str, object], reason: str
) -> None:
    result = await files.call_tool(tool, arguments)
    assert result.is_error
    assert result.content == [TextContent(text=f"Error executing tool {tool}: {reason}")]
