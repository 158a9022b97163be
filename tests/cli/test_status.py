"""`toolfold status`, beside a gateway that runs."""

from pathlib import Path

from tests.support.cli_runs import Ran, running, toolfold
from tests.support.upstreams import entry, write_config

SECRET = "hunter2-hunter2-hunter2"
TRIES = 40


def test_when_nothing_runs_it_says_so_and_succeeds(tmp_path: Path) -> None:
    ran = toolfold(tmp_path, "status")
    assert (ran.code, ran.out, ran.err) == (0, "", "No gateway is running.\n")


def states(ran: Ran) -> dict[object, object]:
    upstreams = [upstream for gateway in ran.member("gateways") for upstream in listed(gateway, "upstreams")]
    return {upstream["upstream"]: upstream["state"] for upstream in upstreams}


def listed(document: dict[str, object], key: str) -> list[dict[str, object]]:
    members = document.get(key, [])
    assert isinstance(members, list)
    return members


def test_a_running_gateway_and_its_upstreams_are_shown_without_secrets(tmp_path: Path) -> None:
    refusing = entry(on={"initialize": {"do": "refuse", "message": f"bad token {SECRET}"}})
    servers = {"fine": entry(tools=3), "refusing": {**refusing, "env": {"API_TOKEN": SECRET}}}
    path = write_config(tmp_path, servers)
    with running(tmp_path, "serve") as gateway:
        for _ in range(TRIES):
            machine = toolfold(tmp_path, "status", "--json")
            if states(machine) == {"fine": "ready", "refusing": "down"}:
                break
        person = toolfold(tmp_path, "status")
        assert (machine.code, person.code) == (0, 0)
        (document,) = machine.member("gateways")
        assert (document["pid"], document["config"]) == (gateway.pid, [str(path)])
        title, config, header, fine, refused, _ = person.out.split("\n", 5)
        assert title.startswith(f"gateway {gateway.pid} · up ")
        assert (config, header.split()) == (str(path), ["upstream", "state", "tools", "since", "reason"])
        assert fine.split()[:3] == ["fine", "ready", "3"]
        assert "bad token [redacted]" in refused
        assert SECRET not in machine.out + person.out
    after = toolfold(tmp_path, "status", "--json")
    assert (after.code, after.json()) == (0, {"gateways": []})
