"""What tools cost a model before its first question: the bytes of what hosts show of them, and about how many tokens.

The one place that counts: the evaluation, the demo's bill and the benchmark of payloads say the same of the same tools.
"""

import json
from collections.abc import Iterable, Mapping

SHOWN = ("name", "description", "inputSchema")  # what hosts commonly give to the model of a tool
BYTES_PER_TOKEN = 4.5  # measured with o200k over the tools of 19 real servers: 322,045 bytes are 71,594 tokens


def shown_text(tools: Iterable[Mapping[str, object]]) -> str:
    """Compact JSON of what is shown of these tools."""
    return _compact([{key: tool[key] for key in SHOWN if key in tool} for tool in tools])


def shown_bytes(tools: Iterable[Mapping[str, object]]) -> int:
    """Its UTF-8 bytes."""
    return utf8_bytes(shown_text(tools))


def encoded_bytes(tools: Iterable[Mapping[str, object]]) -> int:
    """UTF-8 bytes of compact JSON of these tools as they are listed."""
    return utf8_bytes(_compact(list(tools)))


def utf8_bytes(text: str) -> int:
    """What a text weighs, lone surrogates included."""
    return len(text.encode("utf-8", "surrogatepass"))


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def approximate_tokens(size: float) -> int:
    """How many tokens so many bytes of JSON with English text are, in the tokenizers of current models."""
    return round(size / BYTES_PER_TOKEN)
