import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import owner_for_key, tool_id

OWNER = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def test_an_id_names_source_owner_and_tool() -> None:
    assert tool_id("mcp", "time", "get_current_time") == "mcp:time:get_current_time"


@pytest.mark.parametrize("key", ["time", "my-server_2.0", "A" * 64, "-"])
def test_a_key_that_fits_an_id_is_its_own_owner(key: str) -> None:
    assert owner_for_key(key) == key


@pytest.mark.parametrize(
    ("key", "owner"),
    [
        ("my server", "my-server-b129874b"),
        ("Café", "Cafe-73473dcc"),
        ("npm:@scope/pkg", "npm-scope-pkg-e9a8e5aa"),
        ("天気", "upstream-bc79d84d"),
        ("", "upstream-e3b0c442"),
        ("A" * 65, "A" * 55 + "-83620394"),
    ],
)
def test_any_other_key_becomes_a_readable_slug_with_a_hash(key: str, owner: str) -> None:
    assert owner_for_key(key) == owner


@settings(deadline=None)
@given(st.text(st.characters()))
def test_every_key_has_an_owner_that_fits_an_id(key: str) -> None:
    assert OWNER.fullmatch(owner_for_key(key))


@settings(deadline=None)
@given(st.sets(st.text(), min_size=2, max_size=2))
def test_different_keys_have_different_owners(keys: set[str]) -> None:
    assert len({owner_for_key(key) for key in keys}) == 2
