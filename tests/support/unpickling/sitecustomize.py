"""On the path of a process, this lets it unpickle nothing but what it has itself pickled before.

Whoosh pickles numbers into the memory that it keeps postings in, and reads them from there. Anything else that somebody
tries to unpickle is refused, and where that was asked for is written to the file UNPICKLED.
"""

import _pickle
import os
import pickle  # nosec B403 # it is watched
import pickletools  # nosec B403 # reads codes, and runs none
import traceback
from hashlib import sha256
from typing import IO, Final, NoReturn

_dumps, _loads = pickle.dumps, pickle.loads
_made: set[bytes] = set()


def dumps(value: object, protocol: int | None = None) -> bytes:
    content = _dumps(value, protocol)
    _made.add(sha256(content).digest())
    return content


def dump(value: object, file: IO[bytes], protocol: int | None = None) -> None:
    file.write(dumps(value, protocol))


def loads(content: bytes) -> object:
    """Of what may follow the pickle, nothing is read."""
    return _own(bytes(content))[0]


def load(file: IO[bytes]) -> object:
    start = file.tell()
    value, size = _own(bytes(file.read()))
    file.seek(start + size)
    return value


def refuse(*_arguments: object, **_options: object) -> NoReturn:
    with open(os.environ["UNPICKLED"], "a", encoding="utf-8") as file:
        traceback.print_stack(file=file)
    raise AssertionError("something is unpickled that this process has not pickled")


class Unpickler:
    """In place of both real ones; `whoosh` derives a class of its own from it."""

    def __init__(self, *_arguments: object, **_options: object) -> None:
        refuse()


def _own(content: bytes) -> tuple[object, int]:
    """The value, and the size of its pickle."""
    try:
        size = 1 + max(position or 0 for _, _, position in pickletools.genops(content))
    except ValueError:
        refuse()
    if sha256(content[:size]).digest() not in _made:
        refuse()
    return _loads(content[:size]), size


WATCHED: Final = {"dumps": dumps, "dump": dump, "loads": loads, "load": load, "Unpickler": Unpickler}
for module in (pickle, _pickle):
    for name, replacement in WATCHED.items():
        setattr(module, name, replacement)
for name in ("_load", "_loads", "_Unpickler"):
    setattr(pickle, name, refuse)
