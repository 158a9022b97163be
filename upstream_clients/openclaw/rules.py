"""Which of a Gateway's tools somebody outside can call, and which a profile has. Tables and one verdict; pure.

A Gateway tells what an agent may use, not what it lets in over HTTP, and cannot be asked for that. As of OpenClaw 2026.9.6.
"""

from collections.abc import Collection, Mapping
from typing import Final

from upstream_clients.openclaw.target import OpenClawGateway, Profile

CODING: Final = frozenset(("read", "ls", "write", "edit", "exec", "process", "apply_patch", "code_execution"))
"""The Gateway's HTTP surface never has these."""

CLOSED: Final = frozenset(
    (
        "spawn", "shell", "fs_write", "fs_delete", "fs_move", "terminal", "portal", "sessions_spawn", "sessions_send",
        "conversations_list", "conversations_send", "conversations_turn", "automations", "cron", "gateway", "plugins",
        "nodes", "computer", "mobile_ui", "openclaw",
    )
)  # fmt: skip
"""Closed over HTTP unless the operator opens them, one by one."""

OF_A_RUN: Final[Mapping[str, str]] = {
    "sessions_yield": "direct-only in OpenClaw: it ends a running turn, and there is none outside",
    "ask_user": "it waits for an answer in a running turn, and there is none outside",
    "progress_card": "it draws into a running turn, and there is none outside",
    "heartbeat_respond": "direct-only in OpenClaw: it answers a heartbeat, which nobody outside gets",
    "view_image": "direct-only in OpenClaw: it shows an image to the model of a running turn",
    "structured_output": "direct-only in OpenClaw: it ends a run that was asked for structured output",
    "agents_wait": "it collects the runs of a running turn, and there is none outside",
    "suggest_task": "it suggests to the user of a running turn, and there is none outside",
    "dismiss_task": "it suggests to the user of a running turn, and there is none outside",
}
"""What has no effect without a turn of OpenClaw's own."""

DIRECT_ONLY: Final = frozenset(
    ("computer", "openclaw", "heartbeat_respond", "view_image", "sessions_yield", "structured_output")
)

CONTROLS: Final = frozenset(("tool_search", "tool_search_code", "tool_describe", "tool_call"))
"""Of a search for tools: OpenClaw's own, or those of a toolfold that stands behind it, which would lead back here."""

_SESSION_TOOLS: Final = (
    "sessions", "sessions_list", "sessions_history", "sessions_search", "sessions_send", "sessions_spawn",
    "sessions_yield", "subagents", "session_status", "conversations_list", "conversations_send", "conversations_turn",
)  # fmt: skip
PROFILES: Final[Mapping[Profile, frozenset[str] | None]] = {
    "minimal": frozenset(("session_status",)),
    "coding": frozenset(
        (
            *CODING, *_SESSION_TOOLS, "secrets", "web_search", "web_fetch", "x_search", "memory_search", "memory_get",
            "agents_wait", "suggest_task", "dismiss_task", "screen", "theme", "dashboard", "terminal", "portal",
            "automations", "gateway", "plugins", "get_goal", "create_goal", "update_goal", "progress_card", "ask_user",
            "skill_workshop", "view_image", "image_generate", "music_generate", "video_generate",
        )
    ),
    "messaging": frozenset(
        (
            "sessions_list", "sessions_history", "sessions_send", "session_status", "message", "conversations_list",
            "conversations_send", "conversations_turn",
        )
    ),
    "full": None,
}  # fmt: skip
"""What each profile has; None is everything. Messaging has no spawning, whatever a Gateway's own profile says."""

KNOWN_TOOLS: Final = frozenset(
    (
        *CODING, *CLOSED, *OF_A_RUN, *DIRECT_ONLY, *(PROFILES["coding"] or ()), *(PROFILES["messaging"] or ()),
        "agents_list", "browser", "canvas", "intent", "llm-task", "node_inference", "show_widget", "tts", "talk_voice",
        "pdf", "dir_fetch", "dir_list", "file_fetch", "file_write",
    )
)  # fmt: skip
"""Names that can be meant where one is written."""


def why_not(name: str, gateway: OpenClawGateway, refused: Collection[str]) -> str:
    """Why this tool cannot be called from here; "" if it can, as far as is known. `refused` were tried, in vain."""
    allowed = PROFILES[gateway.profile]
    if allowed is not None and name not in allowed and name not in gateway.also_allow:
        return f"not in the profile {gateway.profile}: gateway.openclaw.alsoAllow can add it"
    if name.rpartition("__")[2] in CONTROLS:
        return "it searches and calls tools itself, and may lead back here"
    if name in OF_A_RUN:
        return OF_A_RUN[name]
    if name in CODING:
        return "OpenClaw never offers its coding tools to others"
    if name in CLOSED and name not in gateway.allow:
        return f"closed over HTTP. {how_to_open(name)}"
    if name in refused:
        return f"OpenClaw has answered that it is not available (404). {how_to_open(name)}"
    return ""


def how_to_open(name: str) -> str:
    """The settings that let a tool through, there and here."""
    here = f', and to "gateway": {{"openclaw": {{"allow": ["{name}"]}}}} here' if name in CLOSED else ""
    return f'To open it, add "{name}" to gateway.tools.allow in OpenClaw\'s configuration{here}'
