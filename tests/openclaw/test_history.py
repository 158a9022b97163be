"""What `sessions_history` answers is cleaned and bounded, and says what was done."""

import json
from collections.abc import Mapping

import pytest

from server.config import secrets
from upstream_clients import JsonObject
from upstream_clients.openclaw import credentials, history
from upstream_clients.openclaw.credentials import redacted
from upstream_clients.openclaw.history import CUT, OMITTED, TEXT_CHARACTERS, clean_text, sanitized


def answered(messages: list[object], **beside: object) -> JsonObject:
    details: JsonObject = {
        "sessionKey": "agent:main:main", "messages": messages, "truncated": False, "droppedMessages": False,
        "contentTruncated": False, "contentRedacted": False, "bytes": 1, **beside,
    }  # fmt: skip
    return {"content": [{"type": "text", "text": json.dumps(details)}], "structuredContent": details}


def shown(messages: list[object], *, includes_tools: bool = False, **beside: object) -> Mapping[str, object]:
    """The details, after a look that the text says the same."""
    result = sanitized(answered(messages, **beside), includes_tools=includes_tools)
    details, content = result["structuredContent"], result["content"]
    assert isinstance(details, dict)
    assert isinstance(content, list)
    assert json.loads(content[0]["text"]) == details
    return details


def test_texts_are_cleaned_wherever_they_stand_and_paging_stays() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "a<think>b</think>c"}, "d<|x|>"]}
    details = shown([message], offset=0, nextOffset=20, hasMore=True, totalMessages=40)
    messages = [{"role": "user", "content": [{"type": "text", "text": "ac"}, "d"]}]
    assert details == {
        "sessionKey": "agent:main:main", "messages": messages, "truncated": False, "droppedMessages": False,
        "contentTruncated": False, "contentRedacted": False, "offset": 0, "nextOffset": 20, "hasMore": True,
        "totalMessages": 40, "bytes": len(json.dumps(messages, separators=(",", ":"))),
    }  # fmt: skip


def test_long_texts_are_cut_and_bookkeeping_is_left_out() -> None:
    details = shown([{"role": "assistant", "content": "x" * 5000, "usage": {"cost": 1}, "details": {"a": 1}}])
    assert details["messages"] == [{"role": "assistant", "content": "x" * TEXT_CHARACTERS + CUT}]
    assert (details["contentTruncated"], details["contentRedacted"]) == (True, False)


def test_tools_are_shown_on_demand_only_and_thinking_never() -> None:
    call = {"type": "toolCall", "name": "read", "arguments": {"path": "a"}}
    thought = {"type": "thinking", "thinking": "hm"}
    messages: list[object] = [
        {"role": "assistant", "content": [thought, call, {"type": "text", "text": "a"}]},
        {"role": "toolResult", "content": "r"},
    ]
    assert shown(messages)["messages"] == [{"role": "assistant", "content": [{"type": "text", "text": "a"}]}]
    assert shown(messages, includes_tools=True)["messages"] == [
        {"role": "assistant", "content": [call, {"type": "text", "text": "a"}]},
        {"role": "toolResult", "content": "r"},
    ]


def test_a_field_named_like_a_credential_is_redacted() -> None:
    arguments = {
        "apiKey": "hunter22",
        "github_token": "hunter22",
        "Authorization": "hunter22",
        "tokens": 5,
        "author": "Ann",
    }
    block = {"type": "toolCall", "arguments": arguments}
    found = shown([{"role": "assistant", "content": [block]}], includes_tools=True)
    masked = dict.fromkeys(("apiKey", "github_token", "Authorization"), "[redacted]")
    expected = {"type": "toolCall", "arguments": arguments | masked}
    assert found["messages"] == [{"role": "assistant", "content": [expected]}]
    assert found["contentRedacted"] is True


def test_the_newest_messages_are_kept_of_a_huge_history() -> None:
    details = shown([{"role": "user", "content": f"{number} " + "x" * 3000} for number in range(40)])
    messages = details["messages"]
    assert isinstance(messages, list)
    assert [message["content"].split()[0] for message in messages] == [str(number) for number in range(13, 40)]
    assert (details["truncated"], details["droppedMessages"]) == (True, True)
    assert isinstance(details["bytes"], int)
    assert details["bytes"] <= 80 * 1024


def test_the_configuration_knows_the_same_shapes_of_credentials() -> None:
    assert secrets.ISSUED == credentials._ISSUED


def test_what_is_dropped_is_not_read_and_says_nothing_of_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> tuple[str, bool, bool]:
        read.append(text)
        return clean_text(text)

    monkeypatch.setattr(history, "clean_text", counted)
    old: list[object] = [{"role": "user", "content": "password=correct-horse " * 150} for _ in range(200)]
    details = shown([*old, *({"role": "user", "content": "x" * 3950} for _ in range(20))])
    assert (details["contentRedacted"], details["droppedMessages"]) == (False, True)
    assert sum(len(text) > 100 for text in read) == 21


def test_a_single_message_that_is_too_large_is_replaced() -> None:
    parts = ["y" * 3900 for _ in range(30)]
    details = shown([{"role": "user", "content": "small"}, {"role": "assistant", "content": parts}])
    assert details["messages"] == [{"role": "assistant", "content": OMITTED}]
    assert (details["truncated"], details["droppedMessages"]) == (True, True)


def test_inputs_that_wait_have_a_small_share_of_their_own() -> None:
    items = [{"id": str(n), "message": "z" * 1500, "acceptedAt": n, "state": "queued"} for n in range(5)]
    pending = shown([], pendingInputs={"items": items, "total": 5})["pendingInputs"]
    assert isinstance(pending, dict)
    assert [item["id"] for item in pending["items"]] == ["3", "4"]


def test_images_are_said_and_not_shown() -> None:
    image = {"type": "image", "data": "A" * 1000, "mimeType": "image/png"}
    assert shown([{"role": "user", "content": [image]}])["messages"] == [
        {"role": "user", "content": [{"type": "image", "mimeType": "image/png", "omitted": True, "bytes": 1000}]}
    ]


def test_an_error_stays_one() -> None:
    details = {"status": "error", "error": "No session found: agent:main:<|x|>nope"}
    result = {"content": [], "structuredContent": details, "isError": True}
    clean = {"status": "error", "error": "No session found: agent:main:nope"}
    assert sanitized(result, includes_tools=False) == {"content": [], "structuredContent": clean, "isError": True}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("key sk-abcdefghijklmnopqrstuv.", "key [redacted]."),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123 AKIAABCDEFGHIJKLMNOP", "[redacted] [redacted]"),
        (f"sk-{'ab' * 300} gho_{'ab' * 300} hf_{'ab' * 300}", "[redacted] [redacted] [redacted]"),
        (f"sk_live_{'ab' * 12} rk_test_{'ab' * 12} gsk_{'ab' * 20}", "[redacted] [redacted] [redacted]"),
        (f"xapp-1-A0-{'ab' * 12} glpat-{'ab' * 10}.01.ab pypi-{'aB_' * 12}", "[redacted] [redacted] [redacted]"),
        (f"SG.{'ab' * 11}.{'ab' * 21} ASIA{'AB' * 8} dapi{'0f' * 16}-2", "[redacted] [redacted] [redacted]"),
        (f"npm_{'ab' * 18} AIza{'ab' * 17} hf_{'ab' * 17}", "[redacted] [redacted] [redacted]"),
        ("SG.1 in ASIA, dapi, pypi-server, sk_live, gsk_x", "SG.1 in ASIA, dapi, pypi-server, sk_live, gsk_x"),
        ("Authorization: Bearer abcdef.ghijklmnop", "Authorization: Bearer [redacted]"),
        ("password=correct-horse; user=ann", "password=[redacted]; user=ann"),
        ('{"api_key": "0123456789abcdef"}', '{"api_key": "[redacted]"}'),
        ("postgres://ann:hunter2@host/db", "postgres://ann:[redacted]@host/db"),
        ("a -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- b", "a [redacted] b"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nMIIE", "a [redacted]"),
        ("the token is short and the password: none", "the token is short and the password: none"),
    ],
)
def test_credentials_are_taken_out(text: str, left: str) -> None:
    assert redacted(text) == left
    assert shown([{"role": "user", "content": text}])["contentRedacted"] is (text != left)
