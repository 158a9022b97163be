"""`toolfold stats`, `toolfold log` and the bill of `toolfold list`: what was shown, asked, called and paid."""

import json
import os
from pathlib import Path

from tests.support.cli_runs import PROJECT, toolfold
from tests.support.upstreams import entry, write_config

HEAD = {"at": 1.0, "kind": "session", "session": "x", "version": "0"}


def published(direct: int) -> dict[str, object]:
    sizes = {"tools": 3, "bytes": 900, "direct_bytes": direct, "catalogue": 40, "sources": {"mcp": 38, "client": 2}}
    return {"at": 2.0, "kind": "published", "mode": "tools", "why": "", **sizes}


def done(kind: str, size: int, *ids: str, outcome: str = "ok", via: str = "tools") -> dict[str, object]:
    return {"at": 3.0, "kind": kind, "via": via, "outcome": outcome, "ids": ids, "ms": 2.5, "bytes": size}


def write_log(folder: Path, name: str, *records: dict[str, object]) -> None:
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    lines = [json.dumps(record) for record in (HEAD, *records)]
    (logs / f"{name}-001.jsonl").write_text("\n".join([*lines, '{"torn']))


def stats(folder: Path, *options: str) -> dict[str, object]:
    [session] = toolfold(folder, "stats", "--json", "--dir", str(folder / "logs"), *options).member("sessions")
    return session


def test_the_four_questions_are_answered_from_the_log(tmp_path: Path) -> None:
    write_log(tmp_path, "20260101T000000-1", published(9_000))
    operations = [
        done("search", 450, "mcp:a:x", "mcp:a:y"),
        done("describe", 90, "mcp:a:x"),
        done("call", 7_000, "mcp:a:x"),
        done("call", 70, "mcp:a:x", outcome="tool_error"),
        done("call", 10, outcome="unknown_tool"),
        done("search", 99_999, via="code"),
    ]
    write_log(tmp_path, "20260102T000000-1", published(9_000), *operations)
    session = stats(tmp_path)
    assert session["session"] == "20260102T000000-1"
    assert session["up_front"] == {"tools": 3, "bytes": 900, "tokens": 200}
    assert session["counts"] == {"search": 2, "describe": 1, "call": 3, "code": 0}
    assert session["called"] == [{"id": "mcp:a:x", "source": "mcp", "calls": 2, "failed": 1, "ms": 2.5, "bytes": 7070}]
    assert session["sources"] == {"mcp": 2}
    bill = session["bill"]
    assert isinstance(bill, dict)
    assert (bill["total"], bill["saved"]) == ({"bytes": 1440, "tokens": 320}, {"bytes": 7560, "tokens": 1680})
    assert bill["folding_pays"] is True


def test_of_what_code_answered_the_results_of_tools_cost_nothing_more(tmp_path: Path) -> None:
    ran = [done("search", 2_000, via="code"), done("call", 700, "mcp:a:x", via="code"), done("code", 1_000)]
    write_log(tmp_path, "20260101T000000-1", published(9_000), *ran)
    bill = stats(tmp_path)["bill"]
    assert isinstance(bill, dict)
    assert (bill["searches"]["bytes"], bill["code"]["bytes"], bill["total"]["bytes"]) == (0, 300, 1_200)
    write_log(tmp_path, "20260102T000000-1", published(9_000), done("call", 7_000, via="code"), done("code", 1_000))
    bill = stats(tmp_path)["bill"]
    assert isinstance(bill, dict)
    assert bill["code"]["bytes"] == 0


def test_where_folding_loses_the_report_says_so(tmp_path: Path) -> None:
    write_log(tmp_path, "20260101T000000-1", published(1_000), done("search", 1_700, "mcp:a:x"))
    ran = toolfold(tmp_path, "stats", "--dir", str(tmp_path / "logs"))
    assert (ran.code, ran.err) == (0, "")
    assert "Folding has not paid: it cost about 356 tokens more" in ran.out
    bill = stats(tmp_path)["bill"]
    assert isinstance(bill, dict)
    assert bill["folding_pays"] is False


def test_where_nothing_was_folded_the_report_does_not_advise_against_folding(tmp_path: Path) -> None:
    own = {**published(800), "mode": "false"}
    write_log(tmp_path, "20260101T000000-1", own, done("code", 0, outcome="runtime_unavailable"))
    ran = toolfold(tmp_path, "stats", "--dir", str(tmp_path / "logs"))
    assert "1 run of code" in ran.out
    assert ran.out.rstrip().endswith("Nothing is folded: every tool is published by itself.")


def test_the_log_shows_the_newest_events(tmp_path: Path) -> None:
    write_log(
        tmp_path, "20260101T000000-1", published(1_000), done("search", 17, "mcp:a:x"), done("call", 9, "mcp:a:x")
    )
    ran = toolfold(tmp_path, "log", "--dir", str(tmp_path / "logs"))
    assert [line.split()[2] for line in ran.out.splitlines()[1:]] == ["published", "search", "call"]
    [event] = toolfold(tmp_path, "log", "-n", "1", "--json", "--dir", str(tmp_path / "logs")).member("events")
    assert (event["kind"], event["bytes"], event["ids"]) == ("call", 9, ["mcp:a:x"])


def test_damaged_events_are_shown_as_far_as_they_can_be(tmp_path: Path) -> None:
    write_log(tmp_path, "20260101T000000-1", {"at": 1e300, "kind": "published"}, done("call", 9, "mcp:a:x"))
    ran = toolfold(tmp_path, "log", "--dir", str(tmp_path / "logs"))
    assert (ran.code, ran.err) == (0, "")
    assert "0 of 0 tools" in ran.out
    assert "mcp:a:x" in ran.out


def test_the_logs_are_looked_for_where_the_configuration_has_them(tmp_path: Path) -> None:
    write_log(tmp_path, "20260101T000000-1", done("call", 9, "mcp:a:x"))
    write_config(tmp_path, {}, {"log": {"sessionDir": str(tmp_path / "logs")}})
    other = tmp_path / "other"
    other.mkdir()
    assert len(toolfold(tmp_path, "stats", "--json").member("sessions")) == 1
    assert len(toolfold(other, "log", "--json", "--config", str(tmp_path / "mcp.json")).member("events")) == 1
    assert toolfold(other, "log", "--json").member("events") == []
    write_config(other, {}, {"log": {"sessionDir": False}})
    assert toolfold(other, "stats", "--json").error()["code"] == "no_logs"
    assert toolfold(other, "stats", "--json", "--config", "none.json").code == 4


def test_nothing_logged_yet_is_no_failure(tmp_path: Path) -> None:
    for command in ("stats", "log"):
        ran = toolfold(tmp_path, command)
        assert (ran.code, ran.out) == (0, "")
        assert "has been logged yet" in ran.err


def test_the_bill_of_a_listing_says_what_is_cheaper(tmp_path: Path) -> None:
    write_config(tmp_path, {"few": entry(tools=2)})
    few = toolfold(tmp_path, "list", "--bill")
    assert few.code == 0
    assert "Folding costs more than it saves" in few.out
    write_config(tmp_path, {"few": entry(tools=200)})
    bill = toolfold(tmp_path, "list", "--bill", "--json", "--refresh").json()["bill"]
    assert isinstance(bill, dict)
    assert (bill["tools"], bill["folding_pays"]) == (200, True)
    assert bill["direct"]["tokens"] == round(bill["direct"]["bytes"] / 4.5)
    write_config(tmp_path, {"few": entry(tools=200)}, {"toolSearch": False})
    assert (
        toolfold(tmp_path, "list", "--bill")
        .out.rstrip()
        .endswith("Nothing is folded: every tool is published by itself.")
    )


def test_exact_figures_need_a_tokenizer_and_say_which(tmp_path: Path) -> None:
    write_config(tmp_path, {"few": entry(tools=2)})
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "quicktok.py").write_text("raise ImportError")
    without = toolfold(tmp_path, "list", "--exact", "--json", PYTHONPATH=f"{tmp_path / 'without'}{os.pathsep}{PROJECT}")
    assert (without.code, without.error()["code"]) == (1, "no_tokenizer")
    (tmp_path / "with").mkdir()
    (tmp_path / "with" / "quicktok.py").write_text(
        "class Words:\n    def count(self, text): return len(text)\ndef get_encoding(name): return Words()\n"
    )
    bill = toolfold(
        tmp_path, "list", "--exact", "--json", PYTHONPATH=f"{tmp_path / 'with'}{os.pathsep}{PROJECT}"
    ).json()["bill"]
    assert isinstance(bill, dict)
    assert bill["exact"]["encoding"] == "o200k_base"
    assert bill["exact"]["direct"] == bill["direct"]["bytes"]
