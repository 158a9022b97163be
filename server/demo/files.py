"""Demo server `files`: the text files inside one folder. What it publishes, and how it starts.

Started as `python -P -m server.demo.files ROOT`; must never reach outside ROOT (see `sandbox`).
"""

import argparse
from pathlib import Path

from server.demo.file_changes import Changes
from server.demo.file_reading import Reading
from server.demo.sandbox import Sandbox
from server.demo.serving import ADDS, DESTROYS, READS, SETTLES, ServerSpec, ToolSpec, serve


def spec(root: Path) -> ServerSpec:
    sandbox = Sandbox(root)
    reading, changes = Reading(sandbox), Changes(sandbox)
    return ServerSpec(
        name="files",
        title="Files in one folder",
        instructions="Paths are relative to one root folder and cannot leave it. Look first: list_folder, find_files.",
        tools=(
            ToolSpec(reading.list_folder, "List a folder", READS),
            ToolSpec(reading.read_file, "Read a text file", READS),
            ToolSpec(reading.find_files, "Find files by name", READS),
            ToolSpec(reading.search_text, "Search in files", READS),
            ToolSpec(reading.file_info, "File details", READS),
            ToolSpec(changes.write_file, "Write a text file", DESTROYS),
            ToolSpec(changes.append_to_file, "Append to a file", ADDS),
            ToolSpec(changes.edit_file, "Edit a file", DESTROYS),
            ToolSpec(changes.move_file, "Move or rename", DESTROYS),
            ToolSpec(changes.copy_file, "Copy a file", ADDS),
            ToolSpec(changes.delete_file, "Delete a file", DESTROYS),
            ToolSpec(changes.make_folder, "Make a folder", SETTLES),
            ToolSpec(changes.delete_folder, "Delete an empty folder", DESTROYS),
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="server.demo.files", description="MCP server over stdio: files in one folder."
    )
    parser.add_argument("root", type=Path, help="the folder that no path can leave")
    root: Path = parser.parse_args().root
    if not root.is_dir():
        parser.error(f"{root} is not a folder")
    serve(spec(root))


if __name__ == "__main__":
    main()
