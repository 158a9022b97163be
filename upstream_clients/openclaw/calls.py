"""Calls of a Gateway's tools: `POST /tools/invoke`, and what its answer comes to.

Laws
1. One call is one request. It is sent again only when the Gateway did not take it and names a time to come back.
2. What the operator's filters do not let through is not sent; what comes back passes them, and the sanitiser, before anyone
   sees it.
"""

from typing import Final

import anyio

from upstream_clients.errors import UpstreamError
from upstream_clients.framing import JsonObject
from upstream_clients.openclaw.outcomes import Refusal, refusal_of, result_of
from upstream_clients.openclaw.target import OpenClawGateway
from upstream_clients.openclaw.web import NetworkFailure, Web

PATH: Final = "/tools/invoke"
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

    async def call(self, name: str, arguments: JsonObject) -> JsonObject:
        """The result, as MCP has it.

        Raises:
            CallFailed: there is none.
        """
        return await self._invoke(name, arguments)

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
