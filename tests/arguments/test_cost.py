"""What a call costs when nothing is wrong with it, and what is imported when."""

import cProfile
import subprocess
import sys
from pathlib import Path

from server.arguments import ArgumentCheck

# The gateway may spend 900 calls of Python functions on one `tool_call`; this part's share of them.
MAX_CALLS = 150


def test_a_small_call_takes_few_function_calls() -> None:
    check = ArgumentCheck(
        {
            "type": "object",
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
            "required": ["path", "text"],
            "additionalProperties": False,
        }
    )
    envelope: dict[str, object] = {"args": {"path": "a", "text": "b"}}
    check.from_call(envelope)
    profile = cProfile.Profile()
    profile.enable()
    check.from_call(envelope)
    profile.disable()
    assert sum(entry.callcount for entry in profile.getstats()) <= MAX_CALLS


def test_nothing_heavy_is_imported_before_a_schema_is_compiled() -> None:
    code = (
        "import sys, server.arguments as part\n"
        "heavy = {'jsonschema', 'referencing', 're2'}\n"
        "assert not heavy & set(sys.modules)\n"
        "part.ArgumentCheck({})\n"
        "assert heavy <= set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parents[2])
