"""`toolfold config path` and `config show`."""

from pathlib import Path

from tests.support.cli_runs import PROJECT, toolfold
from tests.support.upstreams import write_config

SECRET = "hunter2-hunter2-hunter2"


def test_the_path_is_the_file_that_would_be_read(tmp_path: Path) -> None:
    path = write_config(tmp_path, {})
    found, named = (
        toolfold(tmp_path, "config", "path"),
        toolfold(tmp_path, "config", "path", TOOLFOLD_CONFIG="other.json"),
    )
    assert (found.code, found.out, found.err) == (0, f"{path}\n", "")
    assert (named.code, named.out) == (4, f"{tmp_path}/other.json\n")
    assert "does not exist" in named.err


def test_without_a_file_it_prints_no_data_and_says_where_one_could_be(tmp_path: Path) -> None:
    ran = toolfold(tmp_path, "config", "path", "--json", XDG_CONFIG_HOME=str(tmp_path))
    assert (ran.code, ran.json()) == (4, {"path": None})
    assert "toolfold/mcp.json" in ran.err


def test_the_configuration_is_shown_with_its_defaults_and_without_a_secret(tmp_path: Path) -> None:
    servers: dict[str, dict[str, object]] = {
        "tickets": {
            "command": "start", "args": ["--token", "${TICKET_TOKEN}", "--level=high"], "timeout": 5000,
            "env": {"ANY": "value", "HOME": "${HOME}"}, "excludeTools": ["drop_*"],
        },
        "off": {"command": "start", "disabled": True},
        "unset": {"command": "${TOOLFOLD_TEST_UNSET}"},
    }  # fmt: skip
    path = write_config(tmp_path, servers, {"hints": "safe", "policy": {"deny": ["mcp:*:reset"]}})
    machine = toolfold(tmp_path, "config", "show", "--json", TICKET_TOKEN=SECRET)
    person = toolfold(tmp_path, "config", "show", TICKET_TOKEN=SECRET)
    document = machine.json()
    assert (machine.code, document["files"]) == (0, [str(path)])
    assert document["mcpServers"] == {
        "tickets": {
            "command": "start", "args": ["--token", "[redacted]", "--level=high"], "env": {"ANY": "[redacted]"},
            "timeout": 5000.0, "excludeTools": ["drop_*"], "hints": "safe",
        },
        "off": {"disabled": True, "command": "start", "hints": "safe"},
        "unset": {
            "problem": "The variable `TOOLFOLD_TEST_UNSET` is not set. "
            "Set it where toolfold is started, or write ${TOOLFOLD_TEST_UNSET:-default}.",
            "hints": "safe",
        },
    }  # fmt: skip
    assert isinstance(document["gateway"], dict)
    assert document["gateway"]["policy"] == {
        "allow": ["*"], "deny": ["mcp:*:reset"], "ask": [], "block": [], "ownerOnly": [], "readOnly": [],
    }  # fmt: skip
    assert person.code == 0
    assert "tickets   ANY        start --token '[redacted]' --level=high\n" in person.out
    assert '  policy.deny = ["mcp:*:reset"]\n' in person.out
    assert SECRET not in machine.out + machine.err + person.out + person.err


def test_the_schema_that_is_shipped_is_printed_with_and_without_json(tmp_path: Path) -> None:
    shipped = (PROJECT / "server/config/mcp.schema.json").read_text(encoding="utf-8")
    plain, machine = toolfold(tmp_path, "config", "schema"), toolfold(tmp_path, "config", "schema", "--json")
    assert (plain.code, plain.out, plain.err) == (machine.code, machine.out, machine.err) == (0, shipped, "")
