import pytest

from server.config.formats import format_of, parse_file
from server.config.text import MAX_DEPTH, MAX_JSON5_CHARS, BadText, Parsed
from server.config.yaml_text import MAX_NODES


@pytest.mark.parametrize(
    ("text", "suffix", "expected"),
    [
        ("a: 1", ".json", "json"),
        ("{}", ".TOML", "toml"),
        ("{}", ".yml", "yaml"),
        ("{}", "", "json"),
        ("  // why\n{}", ".conf", "json"),
        ("[1]", "", "json"),
        ("[mcp_servers.a]\ncommand = 'x'", "", "toml"),
        ("# why\n\n[[a]]  # b", "", "toml"),
        ("model = 'x'", "", "toml"),
        ("extensions:\n  a:", "", "yaml"),
        ("# why\n---\na: 1", "", "yaml"),
        ("- a", "", "yaml"),
        ("what is this", "", "json"),
        ("", "", "json"),
    ],
)
def test_a_format_is_known_by_its_suffix_or_its_first_line(text: str, suffix: str, expected: str) -> None:
    assert format_of(text, suffix) == expected


def test_toml_is_read() -> None:
    text = '[mcp_servers.a]\ncommand = "x"\nargs = ["-y", 1]\n[mcp_servers.a.env]\nA = "1"\n'
    assert parse_file(text, ".toml") == Parsed(
        {"mcp_servers": {"a": {"command": "x", "args": ["-y", 1], "env": {"A": "1"}}}}, ()
    )


def test_yaml_is_read_as_its_version_1_2_has_it() -> None:
    text = """
answer: yes
ports: [22:22, 8080, 0x10, 007, -3]
when: 2026-11-30
off: null
1: true
nothing:
fraction: 1.5
text: |
  a: b
"""
    assert parse_file(text, ".yaml").value == {
        "answer": "yes",
        "ports": ["22:22", 8080, 16, "007", -3],
        "when": "2026-11-30",
        "off": None,
        "1": True,
        "nothing": None,
        "fraction": 1.5,
        "text": "a: b\n",
    }


def test_aliases_and_merges_of_yaml_are_read() -> None:
    text = "base: &base {command: x, cwd: /a}\none: {<<: *base, cwd: /b}\ntwo: *base\n"
    assert parse_file(text, ".yaml") == Parsed(
        {
            "base": {"command": "x", "cwd": "/a"},
            "one": {"command": "x", "cwd": "/b"},
            "two": {"command": "x", "cwd": "/a"},
        },
        (),
    )


def test_a_key_given_twice_in_yaml_is_reported() -> None:
    assert parse_file("a: {b: 1, b: 2}\n", ".yaml") == Parsed({"a": {"b": 2}}, ("a.b",))


LAYERS = range(1, 60)


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in LAYERS),
        "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in LAYERS),
        "a: &a [*a]",
        "a: &a {<<: *a}",
        "a: [" + "x," * MAX_NODES + "]",
    ],
)
def test_yaml_that_amounts_to_too_much_is_refused(text: str) -> None:
    with pytest.raises(BadText, match="amount to too much"):
        parse_file(text, ".yaml")


@pytest.mark.parametrize(
    ("text", "suffix", "place"),
    [
        ("a: !!python/object/apply:os.system [x]", ".yaml", (1, 4)),
        ("a: !secret hunter2", ".yaml", (1, 4)),
        ("a: *hunter2", ".yaml", (1, 4)),
        ("a: 1\nb: [hunter2", ".yaml", (2, 12)),
        ("a: 1\n---\nb: 2", ".yaml", (2, 1)),
        ("? [hunter2]\n: 1", ".yaml", (1, 3)),
        ("a: \x01", ".yaml", (0, 0)),
        ("a: " + "9" * 5000, ".yaml", (0, 0)),
        ("[" * 5000, ".yaml", (0, 0)),
        ("[a]\nb = hunter2", ".toml", (2, 5)),
        ("[a]\n[a]", ".toml", (2, 3)),
        ("a = " + "[" * 5000, ".toml", (0, 0)),
        ("a = " + "9" * 5000, ".toml", (0, 0)),
        ("# " + "x" * MAX_JSON5_CHARS, ".toml", (0, 0)),
        ("# " + "x" * MAX_JSON5_CHARS, ".yaml", (0, 0)),
        ("a:\n" + "".join(" " * n + "- \n" for n in range(1, MAX_DEPTH + 2)), ".yaml", (0, 0)),
        (" \n", ".toml", (0, 0)),
        (" \n", ".yaml", (0, 0)),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place_and_none_of_its_text(
    text: str, suffix: str, place: tuple[int, int]
) -> None:
    with pytest.raises(BadText) as caught:
        parse_file(text, suffix)
    assert (caught.value.line, caught.value.column) == place
    assert "hunter" not in f"{caught.value} {caught.value.fix}"
