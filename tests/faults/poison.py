"""Files that act when something unpickles them, as somebody would leave them where a gateway keeps its own."""
# mypy: allow-untyped-calls
# (Whoosh annotates its searching, not its storage.)

import os
import pickle  # nosec B403 # the poison itself
from pathlib import Path

from whoosh.fields import ID, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.index import TOC

WATCH = Path(__file__).parents[1] / "support" / "unpickling"


class Payload:
    """Makes a folder, the canary, when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self._canary = str(canary)

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self._canary,)


class PoisonedSchema(Schema):
    """A schema of Whoosh that is a payload on disk."""

    canary: Path

    def __reduce__(self) -> tuple[object, ...]:
        return Payload(self.canary).__reduce__()


def poison(canary: Path) -> bytes:
    return pickle.dumps(Payload(canary))


def plant_index(folder: Path, canary: Path) -> None:
    """Leaves a Whoosh index without documents there; to open it is to make the canary."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = PoisonedSchema(name=ID(stored=True))
    schema.canary = canary
    TOC(schema, [], 1).write(FileStorage(str(folder)), "MAIN")


def watched(told: Path) -> dict[str, str]:
    """Variables for a process in which every attempt to unpickle fails and is written to this file."""
    return {"UNPICKLED": str(told), "PYTHONPATH": str(WATCH)}
