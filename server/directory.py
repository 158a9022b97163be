"""The directory of mode `directory`: ids and short descriptions as one bounded text. A pure function of the catalogue.

Laws
1. Only trusted words are in it: of OpenClaw, of trusted upstreams and of the operator. What an untrusted upstream calls its
   tools would stand in the instructions of every session; such tools are counted under the key of their upstream.
2. Descriptions shrink before a tool is left out, and what is left out is counted.
3. The same catalogue gives the same text.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from index import Tool
from server.clean import one_line
from server.client_tools import CLIENT

DIRECTORY_CHARACTERS: Final = 18_000
"""The reference's own bound."""

DESCRIPTION_CHARACTERS: Final = (180, 64, 0)
"""Tried in this order: as long as in a hit, a clause, nothing."""

NAMED_OWNERS: Final = 20
"""So many are named with what was left out of them; the rest is counted."""

FOOTER_CHARACTERS: Final = 300
"""Room that is kept for the footer, which counts by owner as far as it reaches."""

HEADING: Final = "Tools (call them with tool_call by their id; tool_describe has their input):"


def directory(tools: Iterable[Tool], characters: int) -> str:
    """Of these tools, in the order of their ids. What there is no room for is counted in the last line."""
    ordered = sorted(tools, key=lambda tool: tool.id)
    trusted = [tool for tool in ordered if tool.trusted]
    others = Counter(tool.owner for tool in ordered if not tool.trusted)
    for limit in DESCRIPTION_CHARACTERS:
        lines = [_line(tool, limit) for tool in trusted]
        text = _text(lines, others)
        if len(text) <= characters:
            return text
    room = characters - len(HEADING) - FOOTER_CHARACTERS
    kept = _fitting(lines, room)
    return _text(lines[:kept], others + Counter(tool.owner for tool in trusted[kept:]))[: max(0, characters)]


def _line(tool: Tool, limit: int) -> str:
    what = one_line(tool.description, limit) if limit else ""
    name = f"{tool.id} (call {tool.name} itself)" if tool.source == CLIENT else tool.id
    return f"- {name}: {what}" if what else f"- {name}"


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many lines there is room for."""
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return number
    return len(lines)


def _text(lines: Sequence[str], left_out: Counter[str]) -> str:
    parts = [HEADING, *lines] if lines else []
    return "\n".join([*parts, *([_footer(left_out)] if left_out else [])])


def _footer(left_out: Counter[str]) -> str:
    """How many there are besides, and of whom, within FOOTER_CHARACTERS."""
    count = sum(left_out.values())
    head = f"{count} more {'tool is' if count == 1 else 'tools are'} found with tool_search"
    owners = [f"{number} of {owner}" for owner, number in sorted(left_out.items())]
    for shown in range(min(len(owners), NAMED_OWNERS), 0, -1):
        rest = len(owners) - shown
        text = f"{head}: {', '.join(owners[:shown])}{f' and {rest} more servers' if rest else ''}."
        if len(text) <= FOOTER_CHARACTERS:
            return text
    return f"{head}."
