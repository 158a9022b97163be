"""Claude Code, without a login: it adds toolfold to its configuration, connects, and says so."""

import re

import pytest

from tests.hosts.conftest import PROGRAMS, Road, Setup

pytestmark = pytest.mark.hosts

CLAUDE = PROGRAMS / "claude"


@pytest.fixture
def added(setup: Setup, road: Road) -> str:
    """The name under which toolfold was added."""
    name = f"garden-{road}"
    if road == "stdio":
        variables = [part for key, value in setup.env.items() for part in ("-e", f"{key}={value}")]
        setup.run(CLAUDE, "mcp", "add", name, *variables, "--", *setup.command)
    else:
        header = f"Authorization: {setup.authorization}"
        setup.run(CLAUDE, "mcp", "add", "--transport", "http", name, setup.url, "--header", header)
    return name


def test_it_adds_toolfold_and_is_connected(setup: Setup, added: str) -> None:
    listed = setup.run(CLAUDE, "mcp", "list")
    assert re.search(rf"^{added}: .* - \S Connected$", listed, re.MULTILINE), listed


def test_it_is_not_connected_with_a_wrong_token(setup: Setup) -> None:
    header = "Authorization: Bearer another-token-than-the-right-one"
    setup.run(CLAUDE, "mcp", "add", "--transport", "http", "closed", setup.url, "--header", header)
    listed = setup.run(CLAUDE, "mcp", "list")
    assert re.search(r"^closed: .* - (?!\S Connected).*$", listed, re.MULTILINE), listed
    setup.run(CLAUDE, "mcp", "remove", "closed")
