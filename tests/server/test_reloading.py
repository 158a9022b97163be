"""Which edits of a file are taken: what counts as one, when it is read, and what keeps it out."""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import pytest

from server.config import ConfigError, Settings, load, stamps, store_input
from server.reloading import Following, Refused, follow
from tests.support.upstreams import write_config
from tests.support.waiting import until

ECHO: Final = {"command": "echo"}


class Followed:
    """A file that is followed, and what came of its edits, in order."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.told: list[str] = []
        self.reads = 0
        self.objection = ""
        self.environ = {"HOME": "/", "TOOLFOLD_STATE_DIR": str(file.parent / "state")}

    def settings(self) -> Settings:
        self.reads += 1
        return load([self.file], self.environ, self.file.parent)

    async def adopt(self, settings: Settings) -> None:
        if self.objection:
            raise ConfigError("objected", self.objection, "")
        self.told.append(" ".join(server.key for server in settings.servers))

    def report(self, refused: Refused | None) -> None:
        self.told.append(f"refused: {refused.why}" if refused else "in force")

    async def write(self, content: str) -> None:
        """Returns when the edit has been read."""
        reads = self.reads
        await anyio.Path(self.file).write_text(content, encoding="utf-8")
        await until(lambda: self.reads > reads)


@asynccontextmanager
async def followed(folder: Path, gateway: Mapping[str, object] | None = None) -> AsyncIterator[Followed]:
    one = Followed(write_config(folder, {"a": ECHO}, gateway))
    settings = one.settings()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow, settings, Following(one.settings, one.adopt, one.report), 0.01)
        await until(lambda: one.told == ["in force"])  # it has looked once more at what was read before it began
        one.told.clear()
        yield one
        tasks.cancel_scope.cancel()


def written(*keys: str, **gateway: object) -> str:
    return json.dumps({"mcpServers": dict.fromkeys(keys, ECHO), "gateway": gateway})


async def test_a_good_edit_is_adopted_and_one_that_says_the_same_is_not(tmp_path: Path) -> None:
    async with followed(tmp_path) as one:
        await one.write(written("a", "b"))
        await until(lambda: len(one.told) == 2)
        await one.write(f"// a comment\n{written('a', 'b')}")
        await until(lambda: len(one.told) == 3)
    assert one.told == ["a b", "in force", "in force"]


async def test_an_answer_that_is_stored_meanwhile_is_taken(tmp_path: Path) -> None:
    asking = json.dumps({"mcpServers": {"a": ECHO, "b": {**ECHO, "args": ["${input:key}"]}}})
    async with followed(tmp_path) as one:
        await one.write(asking)
        await until(lambda: len(one.told) == 2)
        store_input(one.environ, "key", "value")
        await until(lambda: len(one.told) == 4)
        assert [server.args for server in one.settings().servers] == [(), ("value",)]
    assert one.told == ["a b", "in force"] * 2


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "mcp.json:1:2"),
        ("", "mcp.json"),
        ("[]", "the file is not an object"),
        ('{"mcpServers": 5}', "mcpServers"),
        (written("b", policy=5), "no tool is reachable"),
        (written("b", policy={"deny": 5}), "no tool is reachable"),
        (written("b", http={"tokens": {"me": "x"}}), "nobody may enter"),
    ],
)
async def test_a_bad_edit_is_refused_and_the_way_back_is_no_change(tmp_path: Path, content: str, why: str) -> None:
    async with followed(tmp_path) as one:
        await one.write(content)
        await until(lambda: len(one.told) == 1)
        await one.write(written("a"))
        await until(lambda: len(one.told) == 2)
    assert one.told[0].startswith("refused: ")
    assert why in one.told[0]
    assert one.told[1] == "in force"


async def test_an_edit_to_which_the_surroundings_object_is_refused(tmp_path: Path) -> None:
    async with followed(tmp_path) as one:
        one.objection = "The door would stand open."
        await one.write(written("a", "b"))
        await until(lambda: len(one.told) == 1)
    assert one.told == ["refused: The door would stand open."]


async def test_a_file_that_is_gone_or_open_to_all_is_refused_until_it_is_back(tmp_path: Path) -> None:
    async with followed(tmp_path) as one:
        one.file.chmod(0o666)
        await until(lambda: len(one.told) == 1)
        one.file.chmod(0o600)
        await until(lambda: len(one.told) == 2)
        one.file.rename(tmp_path / "away")
        await until(lambda: len(one.told) == 3)
        (tmp_path / "away").rename(one.file)
        await until(lambda: len(one.told) == 4)
    assert [told.partition(str(one.file))[0] for told in one.told] == ["refused: ", "in force", "refused: ", "in force"]


async def test_a_start_with_a_policy_that_lets_nothing_pass_is_no_edit(tmp_path: Path) -> None:
    async with followed(tmp_path, {"policy": 5}) as one:
        await one.write(written("a", policy={}))
        await until(lambda: len(one.told) == 2)
    assert one.told == ["a", "in force"]


def touched(file: Path) -> None:
    os.utime(file, (1, 1))


def rewritten(file: Path) -> None:
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)
    file.chmod(0o600)


def same_size_and_time(file: Path) -> None:
    status = file.stat()
    file.write_bytes(file.read_bytes().replace(b"a", b"b"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        (touched, True),
        (rewritten, True),
        (same_size_and_time, False),
        (Path.unlink, False),
        (lambda f: f.chmod(0o640), False),
    ],
)
def test_only_another_content_or_another_mode_is_a_change(
    tmp_path: Path, change: Callable[[Path], None], is_same: bool
) -> None:
    file = write_config(tmp_path, {"a": ECHO})
    before = stamps([file])
    assert stamps([file], before) == before
    change(file)
    assert stamps([file], before)[0].is_same_as(before[0]) is is_same
