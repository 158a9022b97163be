"""Gateways that start gateways: only where the entry says so, in no circle, and in no endless row."""

from collections.abc import Callable
from pathlib import Path

import pytest

from server.config import ConfigError, Settings, load
from server.config.started_by import MOST_STARTED, VARIABLE

CHAINED = {"mcpServers": {"team": {"command": "toolfold", "args": ["serve"], "gateway": True}, "x": {"command": "x"}}}


def test_an_entry_that_starts_toolfold_is_started_only_if_it_is_said_to_be_a_gateway(
    settings_of: Callable[..., Settings],
) -> None:
    for said in ({}, {"gateway": False}, {"gateway": "yes"}):
        settings = settings_of({"mcpServers": {"team": {"command": "toolfold", **said}}})
        assert settings.servers == ()
        [note] = [finding for finding in settings.findings if finding.code == "starts_itself"]
        assert '"gateway": true' in note.fix
    [team, other] = settings_of(CHAINED).servers
    assert (team.owner, team.gateway, team.problem, other.gateway) == ("team", True, "", None)


def test_a_gateway_that_is_started_is_told_who_is_before_it_and_no_other_child_is(
    settings_of: Callable[..., Settings], write: Callable[..., Path], tmp_path: Path
) -> None:
    team, other = settings_of(CHAINED).servers
    [mark] = team.env[VARIABLE].split(",")
    assert VARIABLE not in other.env
    path = write(CHAINED, "deeper.json")
    deeper = load([path], {VARIABLE: mark}, tmp_path).servers[0]
    assert deeper.env[VARIABLE].split(",")[0] == mark
    assert len(deeper.env[VARIABLE].split(",")) == 2
    assert deeper.fingerprint == load([path], {}, tmp_path).servers[0].fingerprint, "the stored listing stays its own"


def test_a_gateway_that_has_started_itself_says_so_and_does_not_start(
    settings_of: Callable[..., Settings], write: Callable[..., Path], tmp_path: Path
) -> None:
    chain = settings_of(CHAINED).servers[0].env[VARIABLE]
    (tmp_path / "same.json").symlink_to(write(CHAINED))
    with pytest.raises(ConfigError) as refused:
        load([Path("same.json")], {VARIABLE: f"someone,{chain},another"}, tmp_path)
    assert refused.value.code == "chain_loop"


def test_the_row_ends(settings_of: Callable[..., Settings]) -> None:
    assert settings_of(CHAINED, **{VARIABLE: ",".join("abcd"[: MOST_STARTED - 1])}).servers[0].problem == ""
    with pytest.raises(ConfigError) as refused:
        settings_of(CHAINED, **{VARIABLE: ",".join("abcd"[:MOST_STARTED])})
    assert refused.value.code == "chain_too_long"
