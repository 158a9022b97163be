"""Makes bad messages out of good ones: values exchanged, added and dropped inside the JSON, or bytes beneath it.

Everything comes from the random numbers that are handed in, so that a seed says it all.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator, MutableMapping, MutableSequence, Sequence
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any  # what the standard library takes and gives

NESTED: Final = 260
"""Deeper than what is taken, and not so deep that writing it down fails."""

LONG: Final = 70_000
"""Longer than a pipe's buffer, and than a result may be."""

VALUES: Final[tuple[Json, ...]] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**64), 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"),
    "", " ", "0", "1", "null", "\0", "\x1b[2J", "\n", "\r\n", "\u2028", "\ud800", "\U000e0041", "e\u0301", "\ufeff",
    "x" * LONG, "mcp:one:echo", "../../etc/passwd", "tools/call", "2.0", "2026-07-28", "__proto__", "$ref",
    [], {}, [[]], [None], [1, "a", {}], {"": ""}, {"a": {"a": {"a": 1}}}, ["x"] * 300, {"type": "text"},
)  # fmt: skip

KEYS: Final = (
    "id", "method", "params", "result", "error", "jsonrpc", "_meta", "name", "arguments", "args", "cursor", "nextCursor",
    "progressToken", "requestId", "code", "message", "data", "content", "structuredContent", "isError", "tools", "type",
    "text", "inputSchema", "properties", "$ref", "capabilities", "protocolVersion", "query", "queries", "limit", "offset",
    "toolfold/path", "io.modelcontextprotocol/protocolVersion", "", "\0", "__proto__", "resultType",
)  # fmt: skip

BYTES: Final = (
    b"", b"\0", b"\n", b"\r", b"\r\n", b"\xff", b"\xfe\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"{", b"}", b"[", b"]", b'"',
    b"\\", b"\\u", b",", b":", b"NaN", b"1e999", b"-", b"9" * 5_000, b"[" * NESTED, b'{"a":' * NESTED, b" " * 5_000,
    b"Content-Length: 5\r\n\r\n", b"data: ", b"\x1b[0m", b"\xef\xbb\xbf",
)  # fmt: skip

WHOLE: Final = (
    b"", b"[]", b"{}", b"null", b"0", b'""', b"[{}]", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"\0" * 100,
    b"x" * LONG, b"{" * 1_000, b"[" * 100_000, b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n", b'{"jsonrpc":"2.0"}',
)  # fmt: skip
"""What no message becomes by small changes."""

ALTERATIONS: Final = 4
"""At the most, in one message: most of it stays good, so that it gets far."""


def bad(rng: random.Random, message: Json) -> bytes:
    """This message, as it should not be; sometimes as it should."""
    choice = rng.random()
    if choice < 0.05:
        return rng.choice(WHOLE)
    if choice < 0.15:
        return written(message)
    if choice < 0.4:
        return mangled(rng, written(message))
    altered_message = altered(rng, message)
    return written(altered_message) if choice < 0.9 else mangled(rng, written(altered_message))


def written(message: Json) -> bytes:
    """As JSON; what UTF-8 cannot say becomes bytes that are none."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def altered(rng: random.Random, message: Json) -> Json:
    """A copy with other values, members or items in a few places."""
    root = [copy.deepcopy(message)]
    for _ in range(rng.randint(1, ALTERATIONS)):
        holder, key = rng.choice(list(_places(root)))
        rng.choice(CHANGES)(rng, holder, key)
        if not root:
            return None
    return root[0]


def mangled(rng: random.Random, content: bytes) -> bytes:
    """With bytes changed, dropped, doubled or put in, in a few places."""
    for _ in range(rng.randint(1, ALTERATIONS)):
        start = rng.randint(0, len(content))
        end = min(len(content), start + rng.choice((0, 1, 2, 8, 64)))
        kind = rng.randrange(5)
        if kind == 0:
            content = content[:start]
        elif kind == 1:
            content = content[:start] + content[end:]
        elif kind == 2:
            content = content[:end] + content[start:]
        elif kind == 3:
            content = content[:start] + rng.choice(BYTES) + content[end:]
        else:
            content = content[:start] + rng.randbytes(end - start) + content[end:]
    return content


Holder: TypeAlias = MutableMapping[str, Json] | MutableSequence[Json]


def _places(holder: Holder) -> Iterator[tuple[Holder, Any]]:
    """Each place inside: what holds it, and where."""
    keys: Sequence[Any] = list(holder) if isinstance(holder, MutableMapping) else range(len(holder))
    for key in keys:
        yield holder, key
        value = holder[key]
        if isinstance(value, (dict, list)):
            yield from _places(value)


def _exchange(rng: random.Random, holder: Any, key: Any) -> None:  # noqa: ANN401
    holder[key] = copy.deepcopy(rng.choice(VALUES))


def _drop(_rng: random.Random, holder: Any, key: Any) -> None:  # noqa: ANN401
    del holder[key]


def _wrap(rng: random.Random, holder: Any, key: Any) -> None:  # noqa: ANN401
    holder[key] = [holder[key]] if rng.random() < 0.5 else {rng.choice(KEYS): holder[key]}


def _nest(rng: random.Random, holder: Any, key: Any) -> None:  # noqa: ANN401
    for _ in range(rng.choice((10, NESTED))):
        holder[key] = [holder[key]]


def _add(rng: random.Random, holder: Any, _key: Any) -> None:  # noqa: ANN401
    if isinstance(holder, dict):
        holder[rng.choice(KEYS)] = copy.deepcopy(rng.choice(VALUES))
    else:
        holder.append(copy.deepcopy(rng.choice(VALUES)))


def _rename(rng: random.Random, holder: Any, key: Any) -> None:  # noqa: ANN401
    if isinstance(holder, dict):
        holder[rng.choice(KEYS)] = holder.pop(key)


def _repeat(rng: random.Random, holder: Any, key: Any) -> None:  # noqa: ANN401
    if isinstance(holder[key], str):
        holder[key] = holder[key] * rng.choice((2, 500))
    elif isinstance(holder[key], list):
        holder[key] = holder[key] * rng.choice((2, 50))


Change: TypeAlias = Callable[[random.Random, Any, Any], None]
CHANGES: Final[tuple[Change, ...]] = (
    _exchange,
    _exchange,
    _exchange,
    _drop,
    _drop,
    _wrap,
    _nest,
    _add,
    _add,
    _rename,
    _repeat,
)
