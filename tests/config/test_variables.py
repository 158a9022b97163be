import os
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.config.variables import MAX_EXPANDED_CHARS, Expansion, Variables, literal_part

ENVIRON = {"HOME": "/home/ann", "TOKEN": "t0k", "EMPTY": "", "LOOP": "${LOOP} ${TOKEN}", "A.B": "dotted"}
VARIABLES = Variables.of(ENVIRON, PurePosixPath("/srv/garden"))

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
PLAIN = st.text().filter(lambda text: "${" not in text and not text.endswith("$"))


@pytest.mark.parametrize(
    ("written", "expanded"),
    [
        ("plain", "plain"),
        ("${TOKEN}", "t0k"),
        ("a${TOKEN}b${TOKEN}c", "at0kbt0kc"),
        ("${env:TOKEN}", "t0k"),
        ("${env:A.B}", "dotted"),
        ("${TOKEN:-other}", "t0k"),
        ("${UNSET:-other}", "other"),
        ("${env:UNSET:-other}", "other"),
        ("${UNSET:-}", ""),
        ("${EMPTY:-other}", "other"),
        ("${EMPTY}", ""),
        ("${UNSET:-a:-b}", "a:-b"),
        ("${UNSET:-http://127.0.0.1:80/?q=$x}", "http://127.0.0.1:80/?q=$x"),
        ("${workspaceFolder}/src", "/srv/garden/src"),
        ("${workspaceFolderBasename}", "garden"),
        ("${userHome}/notes", "/home/ann/notes"),
        ("a${/}b${pathSeparator}c", os.sep.join("abc")),
        ("$TOKEN $$ $", "$TOKEN $$ $"),
        ("$${TOKEN}", "$t0k"),
        ("${TOKEN", "${TOKEN"),
        ("${LOOP}", "${LOOP} ${TOKEN}"),
    ],
)
def test_variables_are_expanded_once(written: str, expanded: str) -> None:
    expansion = Expansion(VARIABLES)
    assert expansion.text(written) == expanded
    assert (expansion.unset, expansion.unanswerable, expansion.unknown_forms) == ([], [], 0)


@pytest.mark.parametrize(
    ("written", "unset"),
    [
        ("${UNSET}", ["UNSET"]),
        ("${env:UNSET}", ["UNSET"]),
        ("${A} ${TOKEN} ${B} ${A}", ["A", "B", "A"]),
        ("${env:workspaceFolder}", ["workspaceFolder"]),
    ],
)
def test_an_unset_variable_is_named(written: str, unset: list[str]) -> None:
    expansion = Expansion(VARIABLES)
    expansion.text(written)
    assert expansion.unset == unset


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("${keyring:github}", "${keyring:github}"),
        ("${TOKEN:-${OTHER}}", "${TOKEN}"),
        ("${UNSET:-${env:OTHER}}", "${UNSET}"),
    ],
)
def test_what_another_host_would_answer_is_named_and_left_as_written(written: str, named: str) -> None:
    expansion = Expansion(VARIABLES)
    assert expansion.text(written) == written
    assert expansion.unanswerable == [named]


@pytest.mark.parametrize("written", ["${x%%.*}", "${A-b}", "${ TOKEN }", "${}", "${1}", "${workspaceFolder:app}"])
def test_a_form_that_no_rule_knows_stays_as_written(written: str) -> None:
    expansion = Expansion(VARIABLES)
    assert expansion.text(written) == written
    assert expansion.unknown_forms == 1


def test_strings_inside_lists_and_objects_are_expanded_and_keys_are_not() -> None:
    written = {"${TOKEN}": ["${TOKEN}", 1, None, {"a": "${userHome}"}], "b": True}
    expected = {"${TOKEN}": ["t0k", 1, None, {"a": "/home/ann"}], "b": True}
    assert Expansion(VARIABLES).value(written) == expected


def test_the_variables_used_are_remembered() -> None:
    expansion = Expansion(VARIABLES)
    expansion.value(["${TOKEN}", "${EMPTY:-x}", "${userHome}"])
    assert expansion.used == {"TOKEN": "t0k"}


def test_without_a_home_its_variable_is_unset() -> None:
    expansion = Expansion(Variables.of({}, PurePosixPath("/srv")))
    expansion.text("${userHome}")
    assert expansion.unset == ["userHome"]


def test_expansion_is_bounded_for_a_whole_entry() -> None:
    expansion = Expansion(Variables.of({"BIG": "x" * 1000}, PurePosixPath("/srv")))
    expansion.value(["${BIG}" * 600, "${BIG}" * 600])
    assert expansion.is_too_long
    assert len(expansion.text("${BIG}" * 10)) <= MAX_EXPANDED_CHARS


@pytest.mark.parametrize(
    ("written", "literal"),
    [
        ("abc", "abc"),
        ("${A}", ""),
        ("a${A}b", "ab"),
        ("${A:-dflt}", "dflt"),
        ("${input:x}", ""),
        ("${A:-${B}}", "${B}"),
    ],
)
def test_the_literal_part_is_what_stands_in_the_file(written: str, literal: str) -> None:
    assert literal_part(written) == literal


@given(st.lists(st.tuples(PLAIN, NAMES, st.text())), PLAIN)
def test_any_text_with_any_values_is_expanded_in_one_pass(parts: list[tuple[str, str, str]], tail: str) -> None:
    environ = {name: value for _, name, value in parts}
    written = "".join(f"{text}${{env:{name}}}" for text, name, _ in parts) + tail
    expected = "".join(f"{text}{environ[name]}" for text, name, _ in parts) + tail
    assert Expansion(Variables.of(environ, PurePosixPath("/srv"))).text(written) == expected


@given(PLAIN)
def test_text_without_a_reference_is_left_alone(text: str) -> None:
    assert Expansion(VARIABLES).text(text) == text


@given(st.text(alphabet="${}:-env/ABinput"))
def test_no_text_breaks_the_expansion(text: str) -> None:
    Expansion(VARIABLES).text(text)


@given(NAMES, st.text(alphabet=st.characters(exclude_characters="}$")))
def test_a_default_is_taken_as_it_stands(name: str, default: str) -> None:
    assert Expansion(Variables({}, {})).text(f"${{{name}:-{default}}}") == default
