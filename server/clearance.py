"""The last steps before a call is sent: the operator's hook, and the approval of a person where the policy asks for it.

Laws
1. What the hook changes is validated again before a person is asked about it: who approves sees what will be sent, with
   what nobody sees in escapes, and how much of it there was no room for.
2. No answer is a refusal: a timeout, a host that cannot ask, an answer that is not plainly yes.
3. A refusal says what a person can do about it, and the call was not made.
4. What was cleared is what is sent: not a tool that has changed meanwhile, nor under rules that have become stricter. A
   hook takes seconds, a person minutes.
"""

import json
import shlex
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypeAlias

import anyio
import anyio.to_thread

from index import Tool
from server.access import Access, Caller, Verdict
from server.approvals import DEFAULT_MINUTES, Approvals, definition_digest, together
from server.clean import escaped
from server.errors import GatewayError
from server.hooks import Hook
from server.redaction import Redactor
from upstream_clients import JsonObject

ASK_SECONDS: Final = 120.0
"""For a person to answer. Hosts seldom wait longer for a call."""

SHOWN_ARGUMENTS: Final = 600
"""Characters of the arguments that a person is shown."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked. `digest` stands for this tool, these arguments and this caller."""

    message: str
    digest: str


Ask: TypeAlias = Callable[[Question], Awaitable[bool]]
"""Asks the person at the host; True for a plain yes."""


@dataclass(frozen=True, slots=True)
class Clearing:
    """What stands between valid arguments and their dispatch, for one caller."""

    access: Access
    caller: Caller
    hook: Hook | None
    approvals: Approvals
    redact: Redactor
    still_holds: Callable[[], bool]

    async def hooked(self, tool: Tool, arguments: JsonObject) -> JsonObject | None:
        """Other arguments to call with, if the hook wants that.

        Raises:
            GatewayError: the hook blocks.
        """
        if self.hook is None:
            return None
        who = {"profiles": list(self.access.profiles), "client": self.caller.client, "owner": self.access.is_owner}
        answer = await self.hook({"id": tool.id, "arguments": deepcopy(arguments), "caller": who})
        if not answer.is_allowed:
            why = f": {self.redact(answer.reason).rstrip('.')}" if answer.reason else ""
            raise GatewayError("blocked_by_hook", f"{tool.id} was not called{why}.", "Do without it, or ask the user.")
        return answer.arguments

    async def approved(self, tool: Tool, arguments: JsonObject, ask: Ask | None) -> None:
        """Returns once a person has agreed, where that is needed.

        Raises:
            GatewayError: nobody has, or what was agreed to is not what there is now.
        """
        await self._agreed(tool, arguments, ask)
        if not self.still_holds():
            message = f"{tool.id} was not called: it, or what the policy says of it, has changed meanwhile."
            raise GatewayError("tool_changed", message, "Describe it again, and call it again if it is still there.")

    async def _agreed(self, tool: Tool, arguments: JsonObject, ask: Ask | None) -> None:
        if self.access.verdict(tool) is Verdict.ALLOW:
            return
        profiles = together(self.access.profiles)
        if await anyio.to_thread.run_sync(self.approvals.allow, tool, profiles):
            return
        if ask is not None:
            with anyio.move_on_after(ASK_SECONDS):
                if await ask(self._question(tool, arguments)):
                    return
        command = f"toolfold approve {shlex.quote(tool.id)}" + (
            f" --profile {shlex.quote(profiles)}" if profiles else ""
        )
        message = f"{tool.id} was not called: a person has to agree, and nobody has."
        raise GatewayError(
            "approval_needed", message, f"A person can allow it for {DEFAULT_MINUTES} minutes: {command}"
        )

    def _question(self, tool: Tool, arguments: JsonObject) -> Question:
        written = json.dumps(arguments, ensure_ascii=False, sort_keys=True, default=str)
        shown = _shown(self.redact.without_known(written))
        parts = [self.caller.session, tool.id, definition_digest(tool), written, *self.access.profiles]
        digest = sha256(json.dumps(parts).encode()).hexdigest()
        beware = f" Beware: {tool.warning}." if tool.warning else ""
        return Question(f"May {tool.id} be run with {shown}?{beware}", digest)


def _shown(written: str) -> str:
    text = escaped(written)
    more = len(text) - SHOWN_ARGUMENTS
    return text if more <= 0 else f"{text[:SHOWN_ARGUMENTS]}… ({more:,} characters more, which are not shown)"
