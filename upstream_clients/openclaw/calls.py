"""Calls of a Gateway's tools: `POST /tools/invoke`, and what its answer comes to.

Laws
1. One call is one request, after the list of sessions was asked for where sight is limited. It is sent again only when
   the Gateway did not take it and names a time to come back.
2. What the operator's filters do not let through is not sent; what comes back passes them, and the sanitiser, before anyone
   sees it.
"""

from dataclasses import replace
from functools import partial
from typing import Final

import anyio
import anyio.to_thread

from upstream_clients.errors import UpstreamError
from upstream_clients.framing import JsonObject
from upstream_clients.openclaw.history import sanitized
from upstream_clients.openclaw.outcomes import CallBlocked, Refusal, refusal_of, result_of
from upstream_clients.openclaw.target import OpenClawGateway
from upstream_clients.openclaw.visibility import (
    Directory,
    filtered,
    forbidden,
    named_in,
    needs_directory,
    why_forbidden,
)
from upstream_clients.openclaw.web import NetworkFailure, Web

PATH: Final = "/tools/invoke"
HISTORY: Final = "sessions_history"
LIST: Final = "sessions_list"
DIRECTORY_PAGES: Final = 5
"""Of 200 sessions each. Older ones than these are out of sight where sight is limited."""

WAITS: Final = 2
"""For a Gateway that names a time to come back, within the patience of the call."""


class CallFailed(Exception):
    """A call without a result. `is_over`: the connection is, too."""

    def __init__(self, error: UpstreamError, *, is_over: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.is_over = is_over


class Calls:
    """Calls on behalf of one session."""

    def __init__(self, gateway: OpenClawGateway, web: Web) -> None:
        self._gateway = gateway
        self._web = web

    def act_for(self, agent_id: str) -> None:
        """The agent that the Gateway takes where none is configured."""
        if agent_id and not self._gateway.agent_id:
            self._gateway = replace(self._gateway, agent_id=agent_id)

    async def call(self, name: str, arguments: JsonObject) -> JsonObject:
        """The result, as MCP has it.

        Raises:
            CallFailed: there is none.
        """
        gateway, named, directory = self._gateway, named_in(name, arguments), Directory()
        if needs_directory(name, named, gateway):
            directory = await self._directory()
        if why := why_forbidden(named, directory, gateway):
            return forbidden(why)
        result = filtered(name, await self._invoke(name, arguments), directory, gateway)
        if name == HISTORY and gateway.sanitizes:
            clean = partial(sanitized, result, includes_tools=arguments.get("includeTools") is True)
            return await anyio.to_thread.run_sync(clean)
        return result

    async def _directory(self) -> Directory:
        """Who was started by whom, asked anew each time: it changes with each call. The newest sessions come first."""
        rows: list[JsonObject] = []
        offset = 0
        for _ in range(DIRECTORY_PAGES):
            page = (await self._listed(offset)).get("structuredContent")
            found = page.get("sessions") if isinstance(page, dict) else None
            rows += [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
            following = page.get("nextOffset") if isinstance(page, dict) else None
            if type(following) is not int or following <= offset:
                break
            offset = following
        return Directory.of(rows)

    async def _listed(self, offset: int) -> JsonObject:
        try:
            return await self._invoke(LIST, {"limit": 200, "offset": offset, "archived": "all"})
        except CallFailed as failed:
            message = f"which sessions are in sight cannot be told ({failed.error.message})"
            hint = 'That needs sessions_list, or "visibility": "all" in gateway.openclaw.'
            raise CallFailed(CallBlocked(message, hint=hint), is_over=failed.is_over) from None

    async def _invoke(self, name: str, arguments: JsonObject) -> JsonObject:
        waited = 0.0
        for left in reversed(range(WAITS + 1)):
            outcome = await self._post(name, arguments)
            if not isinstance(outcome, Refusal):
                return outcome
            wait = outcome.waits
            if not left or wait is None or waited + wait > self._gateway.wait_seconds:
                raise CallFailed(outcome.error, is_over=outcome.is_over)
            waited += wait
            await anyio.sleep(wait)
        raise AssertionError("the last try ends it")

    async def _post(self, name: str, arguments: JsonObject) -> JsonObject | Refusal:
        gateway = self._gateway
        body: JsonObject = {"tool": name, "args": arguments, "sessionKey": gateway.session_key}
        if gateway.agent_id:
            body["agentId"] = gateway.agent_id
        headers = {"authorization": f"Bearer {gateway.secret}"} if gateway.secret else {}
        try:
            answer = await self._web.post(f"{gateway.url}{PATH}", headers, body)
            if answer.status == 200 and answer.body.get("ok") is not False:
                return result_of(answer.body)
        except NetworkFailure as failure:
            raise CallFailed(failure, is_over=failure.is_over) from None
        except UpstreamError as error:
            raise CallFailed(error) from None
        return refusal_of(answer.status, answer.body, name, answer.retry_after)
