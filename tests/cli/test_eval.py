"""`toolfold eval`: a user's own catalogue, judged by its own words and by the user's queries; and its exit codes for CI."""

from pathlib import Path

import pytest

from tests.support.cli_runs import toolfold
from tests.support.upstreams import entry, write_config
from upstream_clients import JsonObject


def tool(name: str, description: str) -> JsonObject:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


WATER = tool("water", "Opens the valve of a bed for some minutes.")
MOW = tool("mow", "Sends the robot over the lawn.")
SECRET = tool("reset", "Forgets the whole garden at once.")


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    servers = {
        "garden": {**entry(tools=[WATER, MOW, SECRET]), "excludeTools": ["reset"]},
        "yard": entry(tools=[WATER, tool("send_mail", "Send mail.")]),
    }
    write_config(tmp_path, servers)
    return tmp_path


def test_a_catalogue_is_judged_for_recall_likeness_collisions_and_cost(garden: Path) -> None:
    (garden / "ours.tsv").write_text("# ours\ncut the lawn\tmow\nwash the car\twater|gone\n")
    ran = toolfold(garden, "eval", "ours.tsv", "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    cost = found.pop("cost")
    assert found == {
        "tools": 4,
        "upstreams": 2,
        "hits": 5,
        "by_descriptions": {"asked": 3, "recall": 1.0, "missed": []},
        "by_queries": {
            "asked": 2,
            "recall": 0.5,
            "missed": [{"query": "wash the car", "wanted": ["water", "gone"], "found": [], "unknown": ["gone"]}],
        },
        "silent": ["mcp:yard:send_mail"],
        "near_duplicates": [{"tools": ["mcp:garden:water", "mcp:yard:water"], "shared": 1.0}],
        "collisions": {"water": ["mcp:garden:water", "mcp:yard:water"]},
    }
    assert isinstance(cost, dict)
    assert sorted(cost) == ["direct", "folded", "upstreams"]
    assert sum(one["bytes"] for one in cost["upstreams"].values()) == cost["direct"]["bytes"] + 1  # two lists of two
    assert cost["folded"]["tokens"] == round(cost["folded"]["bytes"] / 4.5)


def test_a_person_reads_what_is_missed_and_what_it_costs(garden: Path) -> None:
    ran = toolfold(garden, "eval", "-", stdin='{"query": "wash the car", "tools": ["water"]}\n')
    assert (ran.code, ran.err) == (0, "")
    said, bill = ran.out.split("what a model is shown before its first question")
    assert said == (
        "4 tools of 2 upstreams\n"
        "\n"
        "found among the first 5\n"
        "each tool by its description, without its name  100.0%  3 of 3\n"
        "your queries                                    0.0%    0 of 1\n"
        "\n"
        "Not found by your queries (1)\n"
        "  water\n"
        "    asked: wash the car\n"
        "    found: nothing\n"
        "\n"
        "Say nothing beside their names, so no query was made of them (1)\n"
        "  mcp:yard:send_mail\n"
        "\n"
        "Near-duplicates across upstreams (1)\n"
        "  mcp:garden:water  mcp:yard:water  100% alike\n"
        "\n"
        "Names that several tools have (1)\n"
        "  water  mcp:garden:water, mcp:yard:water\n"
        "\n"
    )
    assert [line.split("  ")[0] for line in bill.splitlines()[1:3]] == [
        "every tool, directly",
        "what toolfold publishes instead",
    ]


def test_recall_under_the_least_ends_with_1_and_says_which(garden: Path) -> None:
    (garden / "ours.tsv").write_text("cut the lawn\tmow\nwash the car\twater\n")
    enough = toolfold(garden, "eval", "ours.tsv", "--min-recall", "0.5")
    low = toolfold(garden, "eval", "ours.tsv", "--min-recall", "0.51", "--json")
    assert enough.code == 0
    assert (low.code, low.error()["code"], low.json()["tools"]) == (1, "recall_too_low", 4)
    assert low.error()["message"] == "Recall is 0.500 by your queries, under 0.51."


@pytest.mark.parametrize(("upstream", "wait", "code"), [(entry(exit=3), "30", 1), (entry(hang=True), "0.1", 10)])
def test_what_is_not_known_of_an_upstream_fails_where_a_least_is_asked_for(
    tmp_path: Path, upstream: JsonObject, wait: str, code: int
) -> None:
    write_config(tmp_path, {"garden": entry(tools=[MOW]), "gone": upstream})
    toolfold(tmp_path, "list", "garden")  # its listing is stored from now on
    strict = toolfold(tmp_path, "eval", "--min-recall", "0", "--wait", wait, "--json")
    assert (strict.code, strict.json()["missing"], "by_queries" in strict.json()) == (code, ["gone"], False)
    lenient = toolfold(tmp_path, "eval", "--wait", "0.1")
    assert (lenient.code, lenient.err) == (0, "Nothing is known of the tools of gone.\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"water\n", "bad.tsv: line 1 has no tab: write a query, a tab and the tools that answer it, divided by '|'."),
        (b"# nothing\n\n", "bad.tsv has no query."),
        (b"a\tb\n\xff\tb\n", "bad.tsv, line 2, is not UTF-8."),
        (None, "bad.tsv cannot be read: No such file or directory."),
    ],
)
def test_a_file_that_is_no_list_of_queries_is_refused_before_anything_starts(
    garden: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (garden / "bad.tsv").write_bytes(content)
    ran = toolfold(garden, "eval", "bad.tsv", "--json")
    assert (ran.code, ran.error()["code"], ran.error()["message"]) == (2, "bad_queries", message)
