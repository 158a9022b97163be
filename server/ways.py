"""What a caller has in each mode, in the words of texts that send it on: nobody is sent to what is not published. Pure."""

import json
from collections.abc import Mapping
from typing import Final

from server.config import Mode
from upstream_clients import JsonObject

SEARCH: Final = "tool_search"
DESCRIBE: Final = "tool_describe"
CALL: Final = "tool_call"
CODE: Final = "tool_search_code"
READ_RESULT: Final = "toolfold_read_result"
"""Published where neither tool_call nor code is: whatever way a tool was called, the rest of a long result must be had."""

READ_RESULT_ID: Final = "toolfold:core:read_result"

_FIND: Final[Mapping[Mode, str]] = {
    "code": "find its id with openclaw.tools.search",
    "off": "take a name from the list of tools",
}
_USE: Final[Mapping[Mode, str]] = {
    "code": f"Use openclaw.tools.search, describe and call in {CODE}.",
    "off": "Call a tool by its name in the list of tools.",
}


def find(mode: Mode) -> str:
    """How another tool is found, as the end of a sentence."""
    return _FIND.get(mode, f"find its id with {SEARCH}")


def use(mode: Mode) -> str:
    """How tools are used, to whoever has tried something else."""
    return _USE.get(mode, f"Use {SEARCH}, {DESCRIBE} and {CALL}.")


def whole_schema(mode: Mode, tool_id: str) -> str:
    """Where the schema of a published tool can be read that is not published in full."""
    if mode == "off":
        return "A call may have them all the same."
    reader = "openclaw.tools.describe" if mode == "code" else DESCRIBE
    return f"{reader} has the whole schema under the id {tool_id}."


def calling(mode: Mode, tool_id: str) -> str:
    """How a tool is called that is not published by itself."""
    if mode == "code":
        return f"In {CODE}: await openclaw.tools.call({json.dumps(tool_id)}, {{…}})"
    return f"Call {CALL} with {json.dumps({'id': tool_id, 'args': {}})}, args filled in."


def reading_on(mode: Mode, reference: str, offset: int) -> str:
    """The call that reads on where a text was cut."""
    arguments = {"ref": reference, "offset": offset}
    if mode == "off":
        return f"{READ_RESULT} {json.dumps(arguments)}"
    if mode == "code":
        return f"await openclaw.tools.call({json.dumps(READ_RESULT_ID)}, {json.dumps(arguments)})"
    return f"{CALL} {json.dumps({'id': READ_RESULT_ID, 'args': arguments})}"


def reading_whole(mode: Mode, reference: str) -> JsonObject:
    """The call that reads what was replaced."""
    arguments = {"ref": reference, "offset": 0}
    if mode == "off":
        return {"name": READ_RESULT, "arguments": arguments}
    return {"id": READ_RESULT_ID, "args": arguments}
