"""What a Gateway's answer to a call comes to: a result as MCP has it, or an error that says what to do. Pure.

Laws
1. `details` becomes `structuredContent` where it is an object; a soft failure in it makes the result an error.
2. Each status has an error of its own. What the Gateway says is quoted, cut short; what it hides is said where to look for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from upstream_clients.errors import UpstreamError, UpstreamProtocolFault, UpstreamTimeout, UpstreamUnauthorized
from upstream_clients.framing import JsonObject
from upstream_clients.openclaw.rules import how_to_open

SOFT_FAILURES: Final = frozenset(("error", "forbidden", "timeout"))
"""In `details.status` of an answer that is otherwise a success."""

QUOTED_CHARACTERS: Final = 300
BODY_BYTES: Final = 2 * 1024 * 1024
"""What a Gateway takes of one request."""

RENEW_HINT: Final = 'Renew "token" in gateway.openclaw, or the variable that it comes from (OPENCLAW_GATEWAY_TOKEN).'

NOT_OPENCLAW_HINT: Final = 'Look whether "url" in gateway.openclaw is the address of an OpenClaw Gateway.'


class BadArguments(UpstreamError):
    """The Gateway or the tool refused what it was given."""

    code = "invalid_arguments"


class ApprovalNeeded(UpstreamError):
    """A person has to approve the call first."""

    code = "approval_needed"


class CallBlocked(UpstreamError):
    """A policy of the Gateway does not let the call through."""

    code = "call_blocked"


class ToolUnavailable(UpstreamError):
    """The Gateway has no such tool, or does not let it be called from outside: it does not say which."""

    code = "tool_unavailable"


class ArgumentsTooLarge(UpstreamError):
    """The request is larger than the Gateway takes."""

    code = "arguments_too_large"


class Busy(UpstreamError):
    """Too many requests, or not able to take any now."""

    code: ClassVar[str] = "upstream_busy"


class ToolFailed(UpstreamError):
    """The tool ran and failed; the Gateway keeps the reason to itself."""

    code = "tool_failed"


@dataclass(frozen=True, slots=True)
class Refusal:
    """`waits` is how long the Gateway asks us to wait, `is_over` that no other call would fare better."""

    error: UpstreamError
    waits: float | None = None
    is_over: bool = False


def result_of(body: JsonObject) -> JsonObject:
    """The result of a call that was answered with 200.

    Raises:
        UpstreamProtocolFault: there is none in it.
    """
    result = body.get("result")
    if not isinstance(result, dict):
        raise UpstreamProtocolFault("its answer to a call has no result", hint=NOT_OPENCLAW_HINT, ran=True)
    content, details = result.get("content"), result.get("details")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    found: JsonObject = {"content": blocks}
    if isinstance(details, dict):
        found["structuredContent"] = details
        if details.get("status") in SOFT_FAILURES:
            found["isError"] = True
    return found


def refusal_of(status: int, body: JsonObject, tool: str, retry_after: float | None) -> Refusal:
    """What any other status than 200 means. `tool` is the name that was called."""
    error = body.get("error")
    said = error if isinstance(error, dict) else {}
    if status == 401:
        gone = "OpenClaw does not accept the token (HTTP 401)"
        return Refusal(UpstreamUnauthorized(gone, hint=RENEW_HINT), is_over=True)
    if status == 403:
        return Refusal(_blocked(said))
    if status == 404 and said.get("type") == "not_found":
        message = f"OpenClaw has no tool {tool}, or does not let it be called from outside (HTTP 404)"
        return Refusal(
            ToolUnavailable(message, hint=f"{how_to_open(tool)}. A plugin's tool needs its plugin enabled, too.")
        )
    if status == 400:
        return Refusal(_bad_arguments(said))
    if status in (429, 503):
        return Refusal(_busy(status, retry_after), waits=retry_after)
    if status == 500:
        return Refusal(_failed(tool))
    meaning = _OTHERS.get(status)
    return Refusal(meaning() if meaning else _strange(status))


_LLM_TASK_HINT: Final = (
    "Usual reasons: the model's answer was no JSON or did not match the schema; no default model; a model that is not "
    "allowed (plugins.entries.llm-task.llm in OpenClaw's configuration needs allowModelOverride, also for a defaultModel "
    "of its own, and the model in allowedModels where there is such a list); it took longer than timeoutMs. "
    "OpenClaw's own log says which: openclaw logs"
)
_HINTS_OF_500: Final[Mapping[str, str]] = {
    "llm-task": _LLM_TASK_HINT,
    "session_status": "Often the sessionKey is not that of a session. OpenClaw's own log says why: openclaw logs",
    "sessions_list": "With messageLimit it fails while a session is busy: leave that out, or try again. Or: openclaw logs",
}


def _blocked(said: JsonObject) -> UpstreamError:
    why = _quoted(said)
    if said.get("requiresApproval") is True:
        hint = "A person has to approve it in OpenClaw (its approvals, or the Control UI); then call it again."
        return ApprovalNeeded(f"OpenClaw wants this call approved first (HTTP 403){why}", hint=hint)
    hint = "OpenClaw's policy decides this: look at tools.* in its configuration, or use another tool."
    return CallBlocked(f"OpenClaw does not let this call through (HTTP 403){why}", hint=hint)


def _bad_arguments(said: JsonObject) -> UpstreamError:
    who = "The tool" if said.get("type") == "tool_error" else "OpenClaw"
    return BadArguments(
        f"{who} refuses the arguments (HTTP 400){_quoted(said)}",
        hint="Correct them as it says, and as the tool's description and schema have it.",
    )


def _busy(status: int, retry_after: float | None) -> UpstreamError:
    when = f"in {retry_after:.0f} s" if retry_after is not None else "later"
    if status == 429:
        return Busy("OpenClaw has had too many requests (HTTP 429)", hint=f"Try again {when}.")
    return Busy("OpenClaw takes no calls now: it starts, drains or is suspended (HTTP 503)", hint=f"Try again {when}.")


def _failed(tool: str) -> UpstreamError:
    hint = _HINTS_OF_500.get(tool, "OpenClaw's own log says why: openclaw logs")
    return ToolFailed(
        f"{tool} failed inside OpenClaw, which tells the reason only in its log (HTTP 500)", hint=hint, ran=True
    )


def _not_found() -> UpstreamError:
    return UpstreamProtocolFault("there is no OpenClaw Gateway at its address (HTTP 404)", hint=NOT_OPENCLAW_HINT)


def _wrong_method() -> UpstreamError:
    return UpstreamProtocolFault("its address does not take calls (HTTP 405)", hint=NOT_OPENCLAW_HINT)


def _slow() -> UpstreamError:
    return UpstreamTimeout("OpenClaw waited too long for the arguments (HTTP 408)", hint="Try again, or send less.")


def _large() -> UpstreamError:
    hint = f"OpenClaw takes {BODY_BYTES // 1024 // 1024} MiB a call: send less at once."
    return ArgumentsTooLarge("the arguments are larger than OpenClaw takes (HTTP 413)", hint=hint)


_OTHERS: Final = {404: _not_found, 405: _wrong_method, 408: _slow, 413: _large}


def _strange(status: int) -> UpstreamError:
    ran = status < 400 or status >= 500
    return UpstreamProtocolFault(
        f"its answer to a call is none of OpenClaw's (HTTP {status})", hint=NOT_OPENCLAW_HINT, ran=ran
    )


def _quoted(said: JsonObject) -> str:
    message = said.get("message")
    return f": {' '.join(message.split())[:QUOTED_CHARACTERS]}" if isinstance(message, str) and message.strip() else ""
