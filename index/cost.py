"""What tools cost in a prompt: bytes of what a host shows of them to a model, and the tokens that these come to."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

BYTES_PER_TOKEN: Final = 4.5
"""Measured with o200k over the names, descriptions and schemas of 19 real servers: 322,045 bytes are 71,594 tokens."""

_SHOWN: Final = ("name", "description", "inputSchema")


def prompt_text(definitions: Iterable[Mapping[str, object]]) -> str:
    """What hosts commonly give to a model of these tools, as compact JSON."""
    shown = [{key: tool[key] for key in _SHOWN if key in tool} for tool in definitions]
    return json.dumps(shown, separators=(",", ":"), ensure_ascii=False)


def prompt_bytes(definitions: Iterable[Mapping[str, object]]) -> int:
    """Its length in UTF-8."""
    return len(prompt_text(definitions).encode("utf-8", "surrogatepass"))


def tokens(size: float) -> int:
    """About how many tokens so many bytes of such text are."""
    return round(size / BYTES_PER_TOKEN)
