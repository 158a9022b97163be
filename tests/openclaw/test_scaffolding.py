"""What was never meant to be read is taken out of a transcript's text: each kind, however nested, crossed or cut off."""

import re
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream_clients.openclaw.scaffolding import Cleaned, without_scaffolding

LEFT: Final = re.compile(
    r"<\s*/?\s*(?:antml:)?(?:think(?:ing)?|thought|antthinking|relevant[-_]memories|tool_calls?|function_calls?|invoke"
    r"|minimax:tool_call)(?=[\s/>])[^<>]{0,900}>|<[|｜][^|｜<>]{0,200}[|｜]>"
    r"|<\s*/?\s*[|｜]{1,4}DSML[|｜]{1,4}\w{1,64}(?=[\s/>])[^<>]{0,900}>"
    r"|\[\s*(?:tool call\s*[:\]]|tool result|historical context)[^\[\]]*\]",
    re.IGNORECASE,
)
"""Whatever of the kinds is whole."""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a<think>secret</think>b", "ab"),
        ("a<THINKING >x</thinking>b", "ab"),
        ("a<antthinking>x</antthinking>b<thought>y</thought>", "ab"),
        ("a<relevant-memories>m</relevant-memories>b", "ab"),
        ("a<relevant_memories>m</relevant-memories>b", "ab"),
        ('a<tool_call>{"name":"x"}</tool_call>b', "ab"),
        ("a<tool_calls><tool_call>1</tool_call></tool_calls>b", "ab"),
        ("a<function_call>x</function_call>b<function_calls>y</function_calls>c", "abc"),
        ('a<invoke name="x"><parameter name="p">1</parameter></invoke>b', "ab"),
        ('a<invoke name="x"><parameter name="p">1</parameter></minimax:tool_call>b', "ab"),
        ("a</minimax:tool_call>b<minimax:tool_call>c</minimax:tool_call>d", "abd"),
        ('a<invoke name="x">y</invoke>b', "ab"),
        ("a<tool_call/>b", "ab"),
        ("a<|im_start|>b<｜tool▁calls▁begin｜>c", "abc"),
        ("a[Tool Call: read (ID: 1)]b", "ab"),
        ("a[Tool Call]b[ tool  call ]c", "abc"),
        ('a[Tool Call]\nArguments: {"path": "b"}\nc', "a\nc"),
        ("a<tool_call " + "x" * 3_000 + ">b</tool_call>c", "ac"),
        ("a</tool_call " + "x" * 3_000 + ">b<tool_call " + "y" * 3_000 + " />c", "abc"),
        ('a<｜DSML｜invoke name="x"><｜DSML｜parameter name="p">1</｜DSML｜parameter></｜DSML｜invoke>b', "ab"),
        (
            "a<｜｜DSML｜｜function_calls>b</｜｜DSML｜｜function_calls>c<| DSML |parameter>d</| DSML |parameter>e",
            "ace",
        ),
        ('a[Tool Call: read (ID: x[0])]\nArguments: {"path": "a}b", "n": {"m": 1}}\nb', "a\nb"),
        ("a[Tool Result for ID 1]\nline 1\nline 2\n\nb", "ab"),
        ("a[Historical context: the model was another one]b", "ab"),
        ("a</think>b", "ab"),
        ("a < b > c <b>bold</b> [1] x <| y |> <|> [Tool box]", "a < b > c <b>bold</b> [1] x  <|> [Tool box]"),
        ("<thinker> <tool_callback> <invoked>", "<thinker> <tool_callback> <invoked>"),
        ("[Tool calls are dear] [tool callback]", "[Tool calls are dear] [tool callback]"),
    ],
)
def test_each_kind_goes_and_what_stands_around_it_stays(text: str, left: str) -> None:
    assert without_scaffolding(text) == Cleaned(left, is_cut=False)


@pytest.mark.parametrize(
    "cut_off",
    [
        "<think>never closed",
        "<tool_call>{",
        '<function_calls><invoke name="x">',
        "<tool_call name=",
        "<|im_start",
        "<｜tool▁calls",
        "<｜DSML｜invoke name=",
        "<｜DSML｜inv",
        "<tool_call " + "x" * 3_000,
        "[Tool Call",
        "[Tool Call: read (ID",
        "[Historical context: it ends",
        "<think>a<tool_call>b</think",
    ],
)
def test_what_is_cut_off_takes_the_rest_along(cut_off: str) -> None:
    assert without_scaffolding(f"before {cut_off}") == Cleaned("before ", is_cut=True)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a<think>b<think>c</think>d</think>e", "ae"),
        ("a<think>b<tool_call>c</think>d</tool_call>e", "ade"),
        ("a<thi<think></think>nk>b</think>c", "ac"),
        ("a<<think>x</think>think>b</think>c", "ac"),
        ("a[Tool <|x|>Call: y]b", "ab"),
        ("a<|x|y|>b<｜DSML｜z｜>c", "abc"),
        ("a<|<|x|>|>b", "ab"),
        ("a<thi[Tool Result x]y\n\nnk>b</think>c", "a"),
        ("a<think>[Tool Call: x</think>b]c", "ab]c"),
        ("[[Tool Call: a]Tool Call: b]c", "c"),
        ("a\ufdd0b", "ab"),
    ],
)
def test_nested_crossed_and_joined_ones_go_too(text: str, left: str) -> None:
    assert without_scaffolding(text).text == left


PARTS: Final = st.sampled_from(
    [
        "<think>", "</think>", "<thi", "nk>", "<tool_call", ">", "<", "</tool_calls>", "<invoke name='a'>", "</invoke>",
        "</minimax:tool_call>", "<|", "|>", "<｜a｜>", "[Tool Call: ", "[Tool Result", "[Historical context", "]", "[",
        "\n\n",
        "<｜DSML｜invoke>",
        "</｜DSML｜invoke>", "[Tool Call",
        "\nArguments: {", "}", '"', "\\", "x", " ", "/", "\ufdd0", "\ufdd1", "<relevant_memories>",
        "</relevant-memories>",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PARTS | st.text(max_size=4), max_size=40).map("".join))
def test_nothing_whole_is_left_and_a_second_time_finds_nothing(text: str) -> None:
    once = without_scaffolding(text).text
    assert LEFT.search(once) is None
    assert without_scaffolding(once).text == once


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="<[\ufdd0\ufdd1")))
def test_a_text_without_any_of_it_stays_as_it_is(text: str) -> None:
    assert without_scaffolding(text) == Cleaned(text, is_cut=False)


ADVERSARIAL: Final[tuple[Callable[[int], str], ...]] = (
    lambda n: "<think>" * n,
    lambda n: "<think>" * n + "</tool_call>" * n,
    lambda n: "<" * n + ">" * n,
    lambda n: "[" * n + "]" * n,
    lambda n: "[Tool Call: " * n,
    lambda n: "[Tool Call: x]\nArguments: {" * n,
    lambda n: '[Tool Call: x]\nArguments: {"' + '\\"' * n,
    lambda n: "[Tool Result x]" * n,
    lambda n: "<thi<think></think>nk></think>" * n,
    lambda n: "<|" * n + "|>" * n,
    lambda n: "<tool_call " + "a" * n + ">",
    lambda n: "</" * n + "think>" * n,
    lambda n: "<a" * n + "[b" * n,
    lambda n: "[Tool Call: x]\nArguments: {" + '"\\' * n,
    lambda n: "<" + " " * n + ">",
    lambda n: "<" + " " * n + "/ " * n + "think",
    lambda n: "<think a" * n,
    lambda n: "<x " + "[" * n + "<" * n + "y>" * n,
    lambda n: "<｜DSML｜a>" * n + "</｜DSML｜b>" * n,
)


def lines_run(text: str) -> int:
    """How many lines of Python the cleaning takes."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: object) -> object:
        nonlocal count
        count += event == "line"
        return trace if "scaffolding" in frame.f_code.co_filename else None

    sys.settrace(trace)  # type: ignore[arg-type]  # a tracer may return None
    try:
        without_scaffolding(text)
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("text", ADVERSARIAL)
def test_work_grows_with_the_text_and_no_faster(text: Callable[[int], str]) -> None:
    once, twice = lines_run(text(500)), lines_run(text(1000))
    assert twice <= 2.2 * once + 200


@pytest.mark.parametrize("text", [ADVERSARIAL[number] for number in (1, 2, 3, 6, 8, 10, 13, 14, 15, 16, 17, 18)])
def test_megabytes_made_to_be_slow_are_not(text: Callable[[int], str]) -> None:
    def seconds(n: int) -> float:
        begun = time.thread_time()
        without_scaffolding(text(n))
        return time.thread_time() - begun

    count = 1_000_000 // len(text(1000)) * 1000
    assert seconds(count) <= 24 * seconds(count // 8) + 0.5  # eight times the text; quadratic would be 64
