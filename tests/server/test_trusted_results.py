"""Results of upstreams that the operator trusts are held to their output schemas."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.gateways import error_of, gateway
from tests.support.hosts import text_of
from tests.support.upstreams import entry, received
from upstream_clients import JsonObject

RECEIPT: JsonObject = {
    "name": "pay",
    "inputSchema": {"type": "object"},
    "outputSchema": {
        "type": "object",
        "properties": {"paid": {"type": "boolean"}, "rows": {"type": "array", "items": {"type": "integer"}}},
        "required": ["paid"],
    },
}


async def paid(folder: Path, step: Mapping[str, object], **entry_options: object) -> JsonObject:
    """The result of a tool with an output schema that answers in this way."""
    async with gateway(folder, {"bank": {**entry(tools=[RECEIPT], does={"pay": step}), **entry_options}}) as opened:
        return await opened.call("pay")


@pytest.mark.parametrize(
    "step",
    [
        {"do": "structured", "structured": {"paid": "yes"}},
        {"do": "structured", "structured": {"paid": "true"}},
        {"do": "structured", "structured": {}},
        {"do": "text", "text": "paid"},
    ],
)
async def test_a_trusted_result_that_breaks_its_schema_says_that_the_tool_ran(tmp_path: Path, step: JsonObject) -> None:
    error = error_of(await paid(tmp_path, step, trusted=True))
    assert error["code"] == "invalid_output"
    assert str(error["message"]).startswith("mcp:bank:pay ran, but its result does not satisfy its outputSchema: ")
    assert error["hint"] == "Side effects may exist: look before you call it again."


async def test_a_trusted_result_that_keeps_its_schema_comes_through(tmp_path: Path) -> None:
    result = await paid(tmp_path, {"do": "structured", "structured": {"paid": True}}, trusted=True)
    assert result["structuredContent"] == {"paid": True}


async def test_a_trusted_result_of_any_length_can_keep_its_schema(tmp_path: Path) -> None:
    step = {"do": "structured", "structured": {"paid": True, "rows": [1] * 25_000}}
    assert "isError" not in await paid(tmp_path, step, trusted=True)


async def test_a_trusted_result_that_is_no_object_can_keep_its_schema(tmp_path: Path) -> None:
    tool = {**RECEIPT, "outputSchema": {"type": "array", "items": {"type": "integer"}}}
    good: Mapping[str, object] = {"do": "structured", "structured": [1, 2]}
    bad: Mapping[str, object] = {"do": "structured", "structured": ["x"]}
    bank = entry(tools=[tool, {**tool, "name": "other"}], does={"pay": good, "other": bad})
    async with gateway(tmp_path, {"bank": {**bank, "trusted": True}}) as opened:
        assert (await opened.call("pay"))["structuredContent"] == [1, 2]
        assert error_of(await opened.call("other"))["code"] == "invalid_output"


async def test_a_trusted_failure_needs_no_structured_content(tmp_path: Path) -> None:
    assert text_of(await paid(tmp_path, {"do": "error", "text": "no funds"}, trusted=True)) == "no funds"


async def test_the_result_of_an_upstream_that_is_not_trusted_is_not_judged(tmp_path: Path) -> None:
    step: JsonObject = {"do": "structured", "structured": {"paid": "yes"}}
    assert (await paid(tmp_path, step))["structuredContent"] == {"paid": "yes"}


async def test_an_unusable_output_schema_is_found_before_the_call(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tool = {**RECEIPT, "outputSchema": {"$ref": "https://example.org/schema"}}
    async with gateway(tmp_path, {"bank": {**entry(tools=[tool], log=str(log)), "trusted": True}}) as opened:
        error = error_of(await opened.call("pay"))
    assert error["code"] == "unusable_schema"
    assert [message["method"] for message in received(log)][3:] == []
