"""Session tools and `llm-task` of a real OpenClaw Gateway: found, described and called by toolfold's three tools.

The Gateway's model says what stands between « and ».
"""

import json
import time
from collections.abc import Callable
from typing import Final, TypeVar

import pytest

from tests.real_openclaw.conftest import Folded
from tests.real_openclaw.gateway import TOKEN, RealGateway
from tests.real_openclaw.provider import MODEL
from tests.support.hosts import part
from tests.support.raw_client import JsonObject, RawClient, structured

pytestmark = pytest.mark.openclaw

LLM_TASK: Final = "openclaw:llm-task:llm-task"
OWN_KEY: Final = "agent:main:main"
DEPTH: Final = {
    "type": "object",
    "properties": {"depth": {"type": "number"}},
    "required": ["depth"],
    "additionalProperties": False,
}

T = TypeVar("T")

CALLED: Final = (
    "openclaw:core:sessions_list",
    "openclaw:core:sessions_history",
    "openclaw:core:session_status",
    "openclaw:core:sessions_send",
    "openclaw:core:sessions_spawn",
    "openclaw:core:subagents",
    LLM_TASK,
)

ENOUGH_SECONDS: Final = 120.0
"""For what a Gateway does by itself: a sub-agent's turn takes it some seconds."""

ASK_AGAIN_SECONDS: Final = 0.5


def core(fold: RawClient, name: str, **arguments: object) -> JsonObject:
    """The structured result of one of OpenClaw's own tools."""
    return structured(called(fold, f"openclaw:core:{name}", arguments))


def called(fold: RawClient, tool_id: str, arguments: object) -> JsonObject:
    result = fold.call("tool_call", {"id": tool_id, "args": arguments})
    assert "isError" not in result, result
    assert part(result, "_meta") == {"toolfold/tool": tool_id}
    return result


def failed(fold: RawClient, tool_id: str, arguments: object) -> JsonObject:
    """The error of a call that fails on the way."""
    result = fold.call("tool_call", {"id": tool_id, "args": arguments})
    assert result["isError"] is True
    return part(structured(result), "error")


def objects(value: object) -> list[JsonObject]:
    assert isinstance(value, list)
    return [one for one in value if isinstance(one, dict)]


def until(ask: Callable[[], T], holds: Callable[[T], bool]) -> T:
    """The first answer for which this holds."""
    deadline = time.monotonic() + ENOUGH_SECONDS
    while not holds(answer := ask()):
        assert time.monotonic() < deadline, answer
        time.sleep(ASK_AGAIN_SECONDS)
    return answer


@pytest.fixture(scope="module")
def sent(fold: RawClient) -> JsonObject:
    """The answer to a message to the own session, which there is from then on."""
    return core(fold, "sessions_send", sessionKey="main", message="How deep? «Three feet.»", timeoutSeconds=60)


@pytest.fixture(scope="module")
def spawned(fold: RawClient, sent: JsonObject) -> JsonObject:
    """The answer to the start of a sub-agent."""
    return core(fold, "sessions_spawn", task="Count the ducks. «Seven ducks.»", label="ducks", runTimeoutSeconds=60)


def test_without_a_session_everything_that_there_is_is_known_and_with_one_what_its_agent_has(
    fold: RawClient, request: pytest.FixtureRequest
) -> None:
    described = fold.call("tool_describe", {"id": "image_generate"})
    assert "isError" not in described  # the Gateway has the tool; its agent has no model for it
    request.getfixturevalue("sent")
    gone = until(lambda: fold.call("tool_describe", {"id": "image_generate"}), lambda answer: "isError" in answer)
    assert part(structured(gone), "error")["code"] == "unknown_tool"


@pytest.mark.parametrize(
    ("query", "tool_id"),
    [
        ("list my sessions", "openclaw:core:sessions_list"),
        ("read the history of a session", "openclaw:core:sessions_history"),
        ("status of the session", "openclaw:core:session_status"),
        ("send a message to another session", "openclaw:core:sessions_send"),
        ("spawn a sub agent", "openclaw:core:sessions_spawn"),
        ("list subagents", "openclaw:core:subagents"),
        ("run an LLM step that returns JSON", LLM_TASK),
    ],
)
def test_a_tool_is_found_first_by_what_one_wants(fold: RawClient, query: str, tool_id: str) -> None:
    hit, *_ = objects(structured(fold.call("tool_search", {"query": query}))["tools"])
    assert hit["id"] == tool_id


@pytest.mark.parametrize("tool_id", CALLED)
def test_a_tool_is_described_with_the_gateways_own_schema(fold: RawClient, sent: JsonObject, tool_id: str) -> None:
    described = structured(fold.call("tool_describe", {"id": tool_id}))
    properties = part(described, "tool", "inputSchema", "properties")
    assert (described["trusted"], described["owner"]) == (True, tool_id.split(":")[1])
    assert len(properties) > 2


def test_a_message_to_a_session_is_answered(sent: JsonObject) -> None:
    assert sent.pop("runId")
    delivery = {"status": "pending", "mode": "announce"}
    assert sent == {"sessionKey": "main", "status": "ok", "delivery": delivery, "reply": "Three feet."}


def test_a_transcript_has_what_was_said(fold: RawClient, sent: JsonObject) -> None:
    history = core(fold, "sessions_history", sessionKey="main", limit=50)
    texts = [_text(message) for message in objects(history["messages"])]
    asked = texts.index("How deep? «Three feet.»")
    assert texts[asked + 1] == "Three feet."


def test_sessions_are_listed(fold: RawClient, sent: JsonObject) -> None:
    sessions = {str(row["key"]): row for row in objects(core(fold, "sessions_list")["sessions"])}
    assert sessions[OWN_KEY]["kind"] == "main"
    assert sessions[OWN_KEY]["model"] == MODEL


def test_the_status_of_a_session_names_its_model(fold: RawClient, sent: JsonObject) -> None:
    status = core(fold, "session_status", sessionKey="current")
    assert (status["ok"], status["sessionKey"], status["changedModel"]) == (True, OWN_KEY, False)
    assert f"parrots/{MODEL}" in str(status["statusText"])


def test_a_sub_agent_is_started_and_does_its_task(fold: RawClient, spawned: JsonObject) -> None:
    assert (spawned["status"], spawned["mode"], spawned["resolvedModel"]) == ("accepted", "run", f"parrots/{MODEL}")
    key = spawned["childSessionKey"]
    listed = until(
        lambda: core(fold, "subagents", action="list"),
        lambda answer: [(run["sessionKey"], run["status"]) for run in objects(answer["recent"])] == [(key, "done")],
    )
    (run,) = objects(listed["recent"])
    history = core(fold, "sessions_history", sessionKey=key)
    rows = {row["key"]: row for row in objects(core(fold, "sessions_list")["sessions"])}
    assert (run["label"], run["runId"]) == ("ducks", spawned["runId"])
    assert _text(objects(history["messages"])[-1]) == "Seven ducks."
    assert rows[key]["parentSessionKey"] == OWN_KEY


def test_a_session_that_was_not_started_from_here_is_forbidden(fold: RawClient, sent: JsonObject) -> None:
    result = fold.call(
        "tool_call", {"id": "openclaw:core:sessions_history", "args": {"sessionKey": "agent:main:other"}}
    )
    assert result["isError"] is True
    assert structured(result)["status"] == "forbidden"


def test_a_step_of_a_model_gives_its_json(fold: RawClient) -> None:
    result = called(fold, LLM_TASK, {"prompt": 'How deep? «{"depth": 3}»', "schema": DEPTH})
    assert structured(result) == {"json": {"depth": 3}, "provider": "parrots", "model": MODEL}
    (block,) = objects(result["content"])
    assert json.loads(str(block["text"])) == {"depth": 3}


@pytest.mark.parametrize(
    ("arguments", "logged"),
    [
        ({"prompt": 'How deep? «{"depth": "very"}»', "schema": DEPTH}, "LLM JSON did not match schema"),
        ({"prompt": "How deep? «Three feet.»"}, "LLM returned invalid JSON"),
        ({"prompt": "How deep? «3»", "model": "parrots/other"}, "cannot override the target model"),
    ],
)
def test_a_step_that_fails_says_what_it_usually_lacks_and_the_gateways_log_says_what_it_was(
    fold: RawClient, there: RealGateway, arguments: JsonObject, logged: str
) -> None:
    before = there.log.count(logged)
    error = failed(fold, LLM_TASK, arguments)
    assert error["code"] == "tool_failed"
    assert "did not match the schema" in str(error["hint"])
    assert "allowModelOverride" in str(error["hint"])
    until(lambda: there.log.count(logged), lambda count: count > before)


def test_a_tool_that_the_gateway_refuses_is_unavailable_from_then_on(fold: RawClient, sent: JsonObject) -> None:
    for tool_id, why in (
        ("openclaw:core:sessions_yield", "direct-only in OpenClaw"),
        ("openclaw:core:exec", "never offers its coding tools"),
        ("openclaw:core:gateway", "gateway.tools.allow"),
    ):
        error = failed(fold, tool_id, {})
        assert error["code"] == "tool_unavailable"
        assert why in str(error["message"])


def test_a_gateway_that_dies_is_told_of_and_one_that_comes_back_is_used_again(
    fold: RawClient, there: RealGateway, sent: JsonObject
) -> None:
    there.kill()
    error = failed(fold, "openclaw:core:sessions_list", {})
    there.start()
    again = until(
        lambda: fold.call("tool_call", {"id": "openclaw:core:sessions_list", "args": {}}),
        lambda answer: "isError" not in answer,
    )
    assert error["code"] == "upstream_down"
    assert OWN_KEY in {row["key"] for row in objects(structured(again)["sessions"])}


def test_the_token_is_said_nowhere(folded: Folded, sent: JsonObject) -> None:
    assert TOKEN not in folded.stderr.read_text(encoding="utf-8")


def _text(message: JsonObject) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(str(block.get("text", "")) for block in objects(content))
