"""The stored listings: private, whole or not there at all, and never worth a failed start."""

import json
import logging
import os
import stat
import time
from pathlib import Path

import pytest

from server.listing_cache import FORMAT, KEPT_SECONDS, ListingCache, StoredListing
from server.redaction import Redactor
from upstream_clients import JsonObject

PRINT = "0123456789abcdef" * 4
TOOLS: tuple[JsonObject, ...] = ({"name": "a", "odd": ["é", None, 1.5, "\ud800"]}, {"name": "b"})
LISTING = StoredListing(TOOLS, "modern", "How to use it.")


@pytest.fixture
def cache(tmp_path: Path) -> ListingCache:
    return ListingCache(tmp_path / "cache", Redactor(()))


def only_file(folder: Path) -> Path:
    [path] = (folder / "cache" / "listings").iterdir()
    return path


def test_what_is_written_is_read_as_it_was(cache: ListingCache) -> None:
    before = time.time()
    cache.write("one", PRINT, LISTING)
    read = cache.read("one", PRINT)
    assert read is not None
    assert before <= read.saved <= time.time()
    assert read == StoredListing(TOOLS, "modern", "How to use it.", read.saved)


def test_a_listing_of_the_same_name_under_another_entry_is_not_read(cache: ListingCache) -> None:
    cache.write("one", PRINT, LISTING)
    assert cache.read("one", "f" + PRINT) is None
    assert cache.read("two", PRINT) is None


def test_the_file_is_private_and_plain_json(cache: ListingCache, tmp_path: Path) -> None:
    cache.write("one", PRINT, LISTING)
    path = only_file(tmp_path)
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
    document = json.loads(path.read_bytes())
    assert (path.name, set(document)) == (
        "one-0123456789abcdef.json",
        {"format", "saved", "era", "instructions", "gateway", "tools"},
    )


WHOLE = {"format": FORMAT, "saved": 1.0, "era": "legacy", "instructions": "", "tools": [{"name": "a"}]}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        json.dumps(WHOLE).encode()[:-9],
        b"\x80\x04\x95not json",
        b"[" * 100_000,
        b"null",
        json.dumps([WHOLE]).encode(),
        json.dumps({**WHOLE, "format": 2}).encode(),
        json.dumps({key: value for key, value in WHOLE.items() if key != "format"}).encode(),
        json.dumps({**WHOLE, "tools": {"name": "a"}}).encode(),
        json.dumps({**WHOLE, "tools": [{"name": "a"}, "b"]}).encode(),
        json.dumps({**WHOLE, "instructions": None}).encode(),
        json.dumps({**WHOLE, "saved": "yesterday"}).encode(),
        json.dumps({**WHOLE, "gateway": None}).encode(),
    ],
)
def test_a_file_that_write_would_not_have_written_is_as_good_as_none(
    cache: ListingCache, tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cache.write("one", PRINT, LISTING)
    only_file(tmp_path).write_bytes(content)
    assert cache.read("one", PRINT) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "the stored listing of one can't be used" in caplog.text
    cache.write("one", PRINT, LISTING)
    assert cache.read("one", PRINT) is not None


def test_a_folder_in_the_place_of_the_file_is_as_good_as_none(cache: ListingCache, tmp_path: Path) -> None:
    cache.write("one", PRINT, LISTING)
    path = only_file(tmp_path)
    path.unlink()
    path.mkdir()
    assert cache.read("one", PRINT) is None


def test_an_unknown_era_is_taken_for_the_older_one(cache: ListingCache, tmp_path: Path) -> None:
    cache.write("one", PRINT, LISTING)
    only_file(tmp_path).write_text(json.dumps({**WHOLE, "era": "future"}), encoding="utf-8")
    read = cache.read("one", PRINT)
    assert read is not None
    assert read.era == "legacy"


def test_a_cache_that_can_not_be_written_warns_and_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be", encoding="utf-8")
    cache = ListingCache(tmp_path / "cache", Redactor(()))
    cache.write("one", PRINT, LISTING)
    cache.prune()
    assert cache.read("one", PRINT) is None
    assert "the listing of one could not be stored" in caplog.text


def test_what_no_start_has_refreshed_for_two_months_is_removed(cache: ListingCache, tmp_path: Path) -> None:
    cache.write("old", PRINT, LISTING)
    old = only_file(tmp_path)
    leftover = old.with_name(".abc.tmp")
    leftover.touch()
    for path in (old, leftover):
        os.utime(path, (time.time() - KEPT_SECONDS - 60,) * 2)
    cache.write("new", PRINT, LISTING)
    cache.prune()
    assert [path.name for path in (tmp_path / "cache" / "listings").iterdir()] == ["new-0123456789abcdef.json"]
