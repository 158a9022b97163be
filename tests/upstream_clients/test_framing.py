import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream_clients import LineSplitter

CHUNK = 64 * 1024


def feed_all(splitter: LineSplitter, chunks: list[bytes]) -> list[bytes | None]:
    return [line for chunk in chunks for line in splitter.feed(chunk)]


def cut(stream: bytes, at: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(edge % (len(stream) + 1) for edge in at)})
    return [stream[begin:end] for begin, end in pairwise(edges)]


def expected(stream: bytes, limit: int) -> list[bytes | None]:
    *lines, rest = stream.split(b"\n")
    if len(rest) > limit:
        lines.append(rest)
    return [line if len(line) <= limit else None for line in lines if len(line) > limit or line.strip()]


@settings(deadline=None)
@given(
    stream=st.lists(st.sampled_from([b"a", b"\n", b" ", b"{}", b"\xff\xfe", b"long" * 6, b"\r\n"])).map(b"".join),
    at=st.lists(st.integers(0, 400)),
    limit=st.integers(0, 40),
)
def test_any_chunking_gives_the_same_lines(stream: bytes, at: list[int], limit: int) -> None:
    assert feed_all(LineSplitter(limit), cut(stream, at)) == expected(stream, limit)


@settings(deadline=None)
@given(stream=st.binary(max_size=200), at=st.lists(st.integers(0, 200)))
def test_any_bytes_come_out_as_they_went_in(stream: bytes, at: list[int]) -> None:
    assert feed_all(LineSplitter(200), cut(stream, at)) == expected(stream, 200)


def test_a_line_of_exactly_the_cap_passes_and_one_byte_more_does_not() -> None:
    assert LineSplitter(4).feed(b"1234\n12345\n") == [b"1234", None]


@pytest.mark.parametrize("piece", [b"x", b"xx", b"x" * CHUNK])
def test_a_line_over_the_cap_is_reported_once_as_soon_as_it_is_over(piece: bytes) -> None:
    splitter = LineSplitter(3 * len(piece))

    reports = [splitter.feed(piece) for _ in range(10)]

    assert reports == [[], [], [], [None], [], [], [], [], [], []]
    assert splitter.feed(b"the end of it\n{}\n") == [b"{}"]


def test_blank_lines_are_no_lines() -> None:
    assert LineSplitter(10).feed(b"\n  \n\r\n{}\r\n\n") == [b"{}\r"]


def peak_of(splitter: LineSplitter, chunk: bytes, times: int) -> int:
    tracemalloc.start()
    try:
        for _ in range(times):
            splitter.feed(chunk)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_endless_line_is_never_held() -> None:
    limit = 4 * CHUNK
    assert peak_of(LineSplitter(limit), b"x" * CHUNK, times=500) < 2 * limit


def test_a_line_that_drips_in_costs_no_more_than_its_size() -> None:
    limit = 2 * CHUNK
    assert peak_of(LineSplitter(limit), b"xy", times=limit // 2) < 2 * limit
