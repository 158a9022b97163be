"""Tool ids, and the owner part that a configured name becomes. Knows no catalogue.

Laws:
1. An id is `source:owner:name`; neither source nor owner ever holds a colon, so an id splits in one way only. The name
   of a tool behind another gateway is the id that it has there, colons and all: `mcp:team:mcp:time:now`.
2. `owner_for_key` is a function of the key alone: the same key has the same owner in every process and every version.
"""

import hashlib
import re
import unicodedata

MAX_INNER_ID_CHARS = 400  # four gateways in a row: three times source and owner (69), and a name of 128
MAX_OWNER_CHARS = 64  # hosts show owners inside tool names of at most 128 characters
_OWNER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NOT_OWNER_CHARS = re.compile(r"[^A-Za-z0-9_.-]+")
_SEPARATOR = ":"
_HASH_CHARS = 8  # 32 bits: a few hundred keys of one configuration, chosen by its owner, do not collide


def tool_id(source: str, owner: str, name: str) -> str:
    """The id by which a tool is searched, described and called, such as `mcp:time:get_current_time`."""
    return f"{source}{_SEPARATOR}{owner}{_SEPARATOR}{name}"


def split_tool_id(text: str) -> tuple[str, str, str] | None:
    """Source, owner and name of what looks like an id; None when the text cannot be one."""
    parts = text.split(_SEPARATOR, 2)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None


def bare_name(name: str) -> str:
    """What a tool is called by itself: its name, or the last part of the id that it has behind another gateway."""
    return name.rpartition(_SEPARATOR)[2]


def inner_owners(name: str) -> tuple[str, ...]:
    """The owners that the id behind another gateway goes through, outermost first; none for an ordinary name."""
    return tuple(name.split(_SEPARATOR)[1:-1:2])


def is_id_part(text: str) -> bool:
    """Whether the text can stand as a source or an owner inside an id."""
    return _OWNER.fullmatch(text) is not None


def owner_for_key(key: str) -> str:
    """The owner for a configured key: the key itself where it fits an id, else a readable slug and a short hash."""
    if is_id_part(key):
        return key
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode("ascii")
    slug = _NOT_OWNER_CHARS.sub("-", plain).strip("-")[: MAX_OWNER_CHARS - _HASH_CHARS - 1]
    return f"{slug}-{digest}" if slug else f"upstream-{digest}"
