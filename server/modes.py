"""Which mode is in force: the one that the configuration asks for, if it can be had here, and else `tools`.

Only mode `code` can be out of reach: it needs an isolated Node. This is the one module that knows `server.code`, and it
imports that only when `code` is asked for.

Laws
1. The mode is decided before anything is published, and does not change while the configuration stays the same.
2. A host's first list waits DECIDE_SECONDS at the most, and only where no verdict is remembered; then it is `tools`.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from server.config import Directories, Settings, find_program, read_environment
from server.errors import GatewayError
from server.gateway import Gateway
from server.ways import use
from upstream_clients import JsonObject

if TYPE_CHECKING:
    from server.code import CodeRunner, Gate, Verdict

logger = logging.getLogger(__name__)

DECIDE_SECONDS: Final = 5.0
"""For a first trial of the isolated Node: 0.3 s on an idle machine, 2 s on a busy one. Hosts wait 10 s for a list."""

TOO_SLOW: Final = f"the isolated Node was not ready within {DECIDE_SECONDS:.0f} s"
TRY_BEFORE: Final = "Run: toolfold code check"


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A call of tool_search_code. `meta` is what of the host's `_meta` may go upstream."""

    arguments: JsonObject
    meta: Mapping[str, object]


class Modes:
    """Decides, and keeps what runs code."""

    def __init__(self, directories: Directories) -> None:
        self._directories = directories
        self._runner: CodeRunner | None = None
        self._seconds = 0.0
        self._why = ""

    def __repr__(self) -> str:
        return f"<Modes {'with' if self._runner else 'without'} code>"

    def known(self, settings: Settings) -> Settings | None:
        """These settings with the mode that is in force; None if only a trial can tell. Starts nothing."""
        if settings.gateway.tool_search.mode != "code":
            return self._without_code(settings)
        verdict = self._gate().known()
        return None if verdict is None else self._decided(settings, verdict)

    async def settled(self, settings: Settings) -> Settings:
        """These settings with the mode that is in force, after a trial if there is no other way."""
        if settings.gateway.tool_search.mode != "code":
            return self._without_code(settings)
        gate = await anyio.to_thread.run_sync(self._gate)
        with anyio.move_on_after(DECIDE_SECONDS):
            return self._decided(settings, await gate.verdict())
        return self._fallen_back(settings, TOO_SLOW, TRY_BEFORE)

    def state(self) -> JsonObject:
        """For `status`: why the mode asked for is not the one in force, if it is not."""
        return {"fallback": {"from": "code", "to": "tools", "why": self._why}} if self._why else {}

    async def run_code(self, gateway: Gateway, request: CodeRequest) -> tuple[JsonObject, GatewayError | None]:
        """The result of `tool_search_code`, and what failed if something did."""
        with gateway.observed("code") as seen:
            if self._runner is None:
                return await not_run_here(gateway, request)
            answer, failure = await self._answer(self._runner, gateway, request)
            if failure is None:
                seen.answered(answer)
            else:
                seen.failed(failure)
        return answer, failure

    async def _answer(
        self, runner: "CodeRunner", gateway: Gateway, request: CodeRequest
    ) -> tuple[JsonObject, GatewayError | None]:
        from server.code import Bridge

        bridge = Bridge(gateway, request.meta)
        outcome = await runner.run(request.arguments.get("code"), bridge.ask, self._seconds)
        failure = outcome.failure
        said: JsonObject = (
            {"ok": True, "value": outcome.value}
            if failure is None
            else {"ok": False, "error": {"code": failure.code, "message": failure.message, "hint": failure.hint}}
        )
        return {**said, "logs": [*outcome.logs, *bridge.notes], "telemetry": bridge.telemetry()}, failure

    def _gate(self) -> "Gate":
        from server.code import Gate

        return Gate(find_program("node", read_environment()), self._directories.data, self._directories.cache)

    def _decided(self, settings: Settings, verdict: "Verdict") -> Settings:
        if verdict.runtime is None:
            return self._fallen_back(settings, verdict.why, verdict.hint)
        from server.code import CodeRunner

        self._why, self._seconds = "", settings.gateway.tool_search.code_timeout_ms / 1000
        if self._runner is None or self._runner.runtime != verdict.runtime:
            self._runner = CodeRunner(verdict.runtime)
        return settings

    def _fallen_back(self, settings: Settings, why: str, hint: str) -> Settings:
        logger.warning("mode code can't be had, and mode tools is used: %s. %s", why, hint)
        tool_search = settings.gateway.tool_search.model_copy(update={"mode": "tools"})
        gateway = settings.gateway.model_copy(update={"tool_search": tool_search})
        decided = self._without_code(replace(settings, gateway=gateway))
        self._why = f"{why}. {hint}".rstrip(". ") + "."
        return decided

    def _without_code(self, settings: Settings) -> Settings:
        """What runs now is aborted: whoever turned code off wants none of it."""
        self._why = ""
        if self._runner is not None:
            self._runner.abort()
            self._runner = None
        return settings


async def not_run_here(gateway: Gateway, _request: CodeRequest) -> tuple[JsonObject, GatewayError | None]:
    """What a call of tool_search_code comes to where it is not published. Raises GatewayError."""
    raise GatewayError("runtime_unavailable", "Code is not run here.", use(gateway.mode()))
