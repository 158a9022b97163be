"""How each tool of the four real servers is called (CALLED), or why it is not (WITHHELD). No tool may be missing from both.

In arguments `{files}` and `{repository}` stand for the sample's folders.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.support.raw_client import JsonObject

WITHOUT: Final[JsonObject] = {}


@dataclass(frozen=True, slots=True)
class Case:
    """One call of one tool."""

    tool_id: str
    arguments: JsonObject


def _cases(owner: str, calls: Mapping[str, tuple[JsonObject, ...]]) -> list[Case]:
    return [Case(f"mcp:{owner}:{name}", arguments) for name, several in calls.items() for arguments in several]


REPOSITORY: Final[JsonObject] = {"repo_path": "{repository}"}

CALLED: Final[tuple[Case, ...]] = (
    *_cases(
        "everything",
        {
            "echo": ({"message": 'Grüße, \u2028 "quoted" \\ and 🌿'},),
            "get-annotated-message": (
                {"messageType": "error"},
                {"messageType": "success", "includeImage": True},
                {"messageType": "debug"},
            ),
            "get-env": (WITHOUT,),
            "get-resource-links": (WITHOUT, {"count": 10}),
            "get-resource-reference": ({"resourceType": "Text", "resourceId": 2}, {"resourceType": "Blob"}),
            "get-structured-content": ({"location": "New York"}, {"location": "Los Angeles"}),
            "get-sum": ({"a": 2, "b": 40}, {"a": 0.1, "b": 0.2}),
            "get-tiny-image": (WITHOUT,),
            "gzip-file-as-resource": (
                {"name": "a.gz", "data": "data:text/plain;base64,aGVsbG8=", "outputType": "resource"},
                {"name": "a.gz", "data": "data:text/plain;base64,aGVsbG8=", "outputType": "resourceLink"},
            ),
            "simulate-research-query": ({"topic": "ferns"},),  # an error: it runs as a task only
            "toggle-simulated-logging": (WITHOUT, WITHOUT),  # on, and off again
            "toggle-subscriber-updates": (WITHOUT, WITHOUT),
            "trigger-long-running-operation": ({"duration": 0.2, "steps": 2},),
        },
    ),
    *_cases(
        "filesystem",
        {
            "read_file": ({"path": "{files}/notes/monday.txt"}, {"path": "{files}/notes/monday.txt", "head": 1}),
            "read_text_file": (
                {"path": "{files}/notes/monday.txt", "tail": 2},
                {"path": "{files}/absent.txt"},
                {"path": "/etc/hostname"},
            ),
            "read_media_file": ({"path": "{files}/pixel.png"},),
            "read_multiple_files": ({"paths": ["{files}/numbers.csv", "{files}/absent.txt"]},),
            "write_file": ({"path": "{files}/new.txt", "content": "one\ntwo\n"},),
            "edit_file": (
                {"path": "{files}/numbers.csv", "edits": [{"oldText": "0.75", "newText": "1"}], "dryRun": True},
                {"path": "{files}/numbers.csv", "edits": [{"oldText": "0.75", "newText": "1"}]},
            ),
            "create_directory": ({"path": "{files}/new/nested"},),
            "list_directory": ({"path": "{files}"},),
            "list_directory_with_sizes": ({"path": "{files}", "sortBy": "size"},),
            "directory_tree": ({"path": "{files}", "excludePatterns": ["deep"]}, {"path": "{files}"}),
            "move_file": ({"source": "{files}/pixel.png", "destination": "{files}/dot.png"},),
            "search_files": ({"path": "{files}", "pattern": "**/*.txt"},),
            "get_file_info": ({"path": "{files}/numbers.csv"},),
            "list_allowed_directories": (WITHOUT,),
        },
    ),
    *_cases(
        "git",
        {
            "git_status": (REPOSITORY,),
            "git_diff_unstaged": (REPOSITORY, {**REPOSITORY, "context_lines": 0}),
            "git_diff_staged": (REPOSITORY,),
            "git_diff": ({**REPOSITORY, "target": "greenhouse"},),
            "git_commit": ({**REPOSITORY, "message": "Buy a rake"},),
            "git_add": ({**REPOSITORY, "files": ["seeds.txt", "tools.txt"]},),
            "git_reset": (REPOSITORY,),
            "git_log": (REPOSITORY, {**REPOSITORY, "max_count": 1, "start_timestamp": "2020-01-01"}),
            "git_create_branch": ({**REPOSITORY, "branch_name": "orchard", "base_branch": "greenhouse"},),
            "git_checkout": ({**REPOSITORY, "branch_name": "greenhouse"},),
            "git_show": ({**REPOSITORY, "revision": "main:plants.txt"}, {**REPOSITORY, "revision": "absent"}),
            "git_branch": ({**REPOSITORY, "branch_type": "local"},),
        },
    ),
    *_cases(
        "time",
        {
            "get_current_time": ({"timezone": "Europe/Berlin"},),
            "convert_time": (
                {"source_timezone": "Etc/UTC", "time": "16:30", "target_timezone": "Asia/Kathmandu"},
                {"source_timezone": "Etc/UTC", "time": "25:00", "target_timezone": "Asia/Tokyo"},
            ),
        },
    ),
)

WITHHELD: Final[Mapping[str, str]] = {
    "get-roots-list": "needs a client that has roots",
    "trigger-elicitation-request": "asks the user",
    "trigger-elicitation-request-async": "asks the user, in a task",
    "trigger-sampling-request": "asks the client's model",
    "trigger-sampling-request-async": "asks the client's model, in a task",
    "trigger-url-elicitation": "sends the user to a web page",
}
"""What server-everything lists only for a client that offers all this, which toolfold does not."""

CHANGING: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "mcp:everything:get-env": ((r'(TOOLFOLD_CHILD_OF[\\": ]+)[^\\"]+', r"\1MARK"),),
    "mcp:everything:get-resource-reference": (
        (r"created at \d+:\d\d:\d\d [AP]M", "created at TIME"),
        (r"IGNyZWF0ZWQgYXQg[A-Za-z0-9+/]+=*", "BASE64 OF created at TIME"),
    ),
    "mcp:filesystem:get_file_info": ((r"created: [^\\]+", "created: TIME"),),
    "mcp:time:get_current_time": ((r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "TIME"), (r"[A-Z][a-z]+day", "DAY")),
    "mcp:time:convert_time": ((r"\d{4}-\d\d-\d\dT", "DATE"), (r"[A-Z][a-z]+day", "DAY")),
}
"""What differs between two calls of the same server, however they come: patterns over the JSON, and what replaces them."""


def steady(tool_id: str, text: str) -> str:
    """The text without what changes from call to call."""
    for pattern, name in CHANGING.get(tool_id, ()):
        text = re.sub(pattern, name, text)
    return text


def filled(value: object, places: Mapping[str, str]) -> object:
    """Arguments with the sample's folders in place of their names."""
    if isinstance(value, str):
        return value.format(**places) if value.startswith("{") else value
    if isinstance(value, list):
        return [filled(item, places) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, places) for key, item in value.items()}
    return value
