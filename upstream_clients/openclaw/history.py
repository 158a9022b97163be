"""What `sessions_history` answered, cleaned and bounded before anybody sees it: whatever the Gateway has done already. Pure.

Laws
1. Every text of every message passes `scaffolding` and `credentials`, and is cut at TEXT_CHARACTERS.
2. The newest messages are kept, ANSWER_BYTES of them; one that is larger by itself is replaced by a placeholder.
3. What was done is reported in the fields that OpenClaw has for it; paging fields stay as they came.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from upstream_clients.framing import JsonObject
from upstream_clients.openclaw.credentials import MASK, names_credential, redacted
from upstream_clients.openclaw.scaffolding import without_scaffolding

TEXT_CHARACTERS: Final = 4_000
READ_CHARACTERS: Final = 16 * TEXT_CHARACTERS
"""Of one text that is read at all: what is shown of it is a sixteenth, and scaffolding before that is passed over."""

ANSWER_BYTES: Final = 80 * 1024
PENDING_BYTES: Final = 4 * 1024
"""The share of inputs that still wait, beside the messages."""

CUT: Final = "\n…(truncated)…"
OMITTED: Final = "[sessions_history omitted: message too large]"

_NOT_SHOWN: Final = frozenset(("details", "usage", "cost", "thinkingSignature", "textSignature", "thoughtSignature"))
_THINKING: Final = frozenset(("thinking", "redacted_thinking", "reasoning"))
_TOOL_ROLES: Final = frozenset(("tool", "toolResult", "tool_result", "function"))
_TOOL_BLOCKS: Final = frozenset(("toolCall", "toolResult", "tool_use", "tool_result", "tool_call", "function_call"))
_LONGEST_PLAIN_DATA: Final = 256
"""A longer `data` of an image or a file is binary; its size is said instead."""


@dataclass(slots=True)
class _Done:
    """What was done to the texts so far."""

    is_cut: bool = False
    is_redacted: bool = False

    def add(self, other: "_Done") -> None:
        self.is_cut |= other.is_cut
        self.is_redacted |= other.is_redacted


def sanitized(result: JsonObject, *, includes_tools: bool) -> JsonObject:
    """The whole result of a call. One without messages is an error's, whose texts alone are cleaned."""
    details, done = result.get("structuredContent"), _Done()
    if not isinstance(details, dict) or not isinstance(details.get("messages"), list):
        return {**result, "content": _cleaned(result.get("content"), done)} | (
            {"structuredContent": _cleaned(details, done)} if details is not None else {}
        )
    wanted = list(_wanted(details["messages"], includes_tools=includes_tools))
    kept, is_dropped, is_replaced = _newest(wanted, ANSWER_BYTES, done)
    pending = details.get("pendingInputs")
    if isinstance(pending, dict):
        details = {**details, "pendingInputs": _pending(pending, done)}
    clean: JsonObject = {
        **details,
        "messages": kept,
        "truncated": details.get("truncated") is True or is_dropped or is_replaced,
        "droppedMessages": details.get("droppedMessages") is True or is_dropped or is_replaced,
        "contentTruncated": details.get("contentTruncated") is True or done.is_cut,
        "contentRedacted": details.get("contentRedacted") is True or done.is_redacted,
        "bytes": _size(kept),
    }
    shown = json.dumps(clean, indent=2, ensure_ascii=False)
    return {**result, "content": [{"type": "text", "text": shown}], "structuredContent": clean}


def clean_text(text: str) -> tuple[str, bool, bool]:
    """One text: as it may be shown, whether it was cut, and whether something secret was taken out."""
    read = text[:READ_CHARACTERS]
    cleaned = without_scaffolding(read)
    shown = redacted(cleaned.text)
    is_redacted = shown != cleaned.text
    is_long = len(read) < len(text) or len(shown) > TEXT_CHARACTERS
    return shown[:TEXT_CHARACTERS] + CUT if is_long else shown, cleaned.is_cut or is_long, is_redacted


def _wanted(messages: object, *, includes_tools: bool) -> Iterator[object]:
    for message in messages if isinstance(messages, list) else ():
        if includes_tools or not (isinstance(message, dict) and message.get("role") in _TOOL_ROLES):
            yield message if includes_tools else _without_tool_blocks(message)


def _without_tool_blocks(message: object) -> object:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, list):
        return message
    kept = [block for block in content if not (isinstance(block, dict) and block.get("type") in _TOOL_BLOCKS)]
    return {**message, "content": kept}


def _cleaned(value: object, done: _Done) -> object:
    """Any part of a message. It is nested no deeper than `framing` lets through."""
    if isinstance(value, str):
        text, is_cut, is_redacted = clean_text(value)
        done.is_cut |= is_cut
        done.is_redacted |= is_redacted
        return text
    if isinstance(value, list):
        kept = [item for item in value if not (isinstance(item, dict) and item.get("type") in _THINKING)]
        return [_cleaned(item, done) for item in kept]
    if not isinstance(value, dict):
        return value
    done.is_cut |= not _NOT_SHOWN.isdisjoint(value)
    shown = {_cleaned_key(key): inner for key, inner in value.items() if key not in _NOT_SHOWN}
    data = shown.get("data")
    if isinstance(data, str) and len(data) > _LONGEST_PLAIN_DATA and "type" in shown:
        done.is_cut = True
        shown = {**shown, "omitted": True, "bytes": len(data)}
        del shown["data"]
    return {key: _cleaned_under(key, inner, done) for key, inner in shown.items()}


def _cleaned_under(key: str, value: object, done: _Done) -> object:
    """A text that stands alone under the name of a credential is one, as it would be behind that name in a text."""
    if isinstance(value, str) and names_credential(key):
        done.is_redacted |= bool(value)
        return MASK if value else value
    return _cleaned(value, done)


def _cleaned_key(key: str) -> str:
    return key if len(key) <= 64 and key.isascii() else clean_text(key)[0][:64]


def _pending(pending: JsonObject, done: _Done) -> JsonObject:
    items = pending.get("items")
    kept, _, _ = _newest(items if isinstance(items, list) else [], PENDING_BYTES, done)
    whole = [item for item in kept if isinstance(item, dict) and "id" in item]
    done.is_cut |= isinstance(items, list) and len(whole) < len(items)
    return {**pending, "items": whole}


def _newest(messages: Sequence[object], limit: int, done: _Done) -> tuple[list[object], bool, bool]:
    """What fits once it is cleaned, from the end; whether some are left out, and whether one was replaced. Older ones are
    not looked at.
    """
    kept: list[object] = []
    left = limit
    for message in reversed(messages):
        own = _Done()
        clean = _cleaned(message, own)
        size = _size(clean)
        if size > limit and not kept:
            return [{"role": "assistant", "content": OMITTED}], len(messages) > 1, True
        if size > left:
            break
        kept.append(clean)
        left -= size
        done.add(own)
    return kept[::-1], len(kept) < len(messages), False


def _size(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass"))
