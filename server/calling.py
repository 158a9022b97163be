"""The call path: every call of a tool, whichever surface it came by, takes these steps in this order.

1. repair and validate the arguments, 2. the operator's hook and, where the policy asks, a person's approval, 3. dispatch
with a deadline, 4. check a trusted structured result, 5. bound the result. Nothing is sent upstream before step 3, and
one message then. A failed step raises; the surface turns the error
into an answer. Which tool is meant, and whether the caller may know of it, is settled before.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

import anyio.to_thread

from index import Tool, signature
from server.arguments import ArgumentCheck, InvalidArguments, Prepared, ResultCheck, UnusableSchema, explain
from server.chains import CHAINED_RESULT_BYTES, told_holder
from server.clean import one_line
from server.clearance import Ask, Clearing
from server.config import Mode
from server.errors import GatewayError
from server.results import READ_RESULT_SCHEMA, Reader, ResultStore, bound
from server.telemetry import Via
from server.ways import READ_RESULT_ID
from upstream_clients import PATH_META, JsonObject, Progress, UpstreamError, UpstreamRefused

ERROR_CHARACTERS: Final = 500
ERROR_DATA_CHARACTERS: Final = 1_000
"""What of an upstream's error is passed on: enough for a reason and an address to go to."""

TOOL_META: Final = "toolfold/tool"
REPAIRS_META: Final = "toolfold/repairs"

COMPILED_SCHEMAS: Final = 512
"""Compiled schemas kept, the latest used. One takes about 20 KB; a session seldom calls more than some dozens of tools."""

INLINE_WEIGHT: Final = 200
"""Steps of a schema that are checked on the event loop: at 3 to 5 µs each, under a millisecond. Real tools weigh 2 to 36."""

INLINE_ARGUMENT_ITEMS: Final = 200
"""A longer list or text in the arguments is checked in a worker thread, whatever the schema."""


InMode: TypeAlias = Callable[[], Mode]
"""Tells the caller's mode, for the few results that must say how to read on."""

Check: TypeAlias = ArgumentCheck | ResultCheck
CheckT = TypeVar("CheckT", ArgumentCheck, ResultCheck)


@dataclass(frozen=True, slots=True)
class Call:
    """What a surface asks for. `form` tells how the arguments came: beside `id` in tool_call's own, or as they are."""

    reference: str
    arguments: JsonObject
    form: Literal["envelope", "direct"] = "direct"
    meta: Mapping[str, object] = field(default_factory=dict)
    on_progress: Progress | None = None
    via: Via = "tools"
    ask: Ask | None = None  # the person at the host, if that can be asked


class Dispatch(Protocol):
    """The road to the upstreams (`Fleet.call`)."""

    async def __call__(
        self,
        owner: str,
        name: str,
        arguments: JsonObject,
        meta: Mapping[str, object],
        on_progress: Progress | None = None,
    ) -> JsonObject: ...


class CallPath:
    """Calls tools. Holds compiled schemas, and puts long results into a store that may outlive it."""

    def __init__(self, dispatch: Dispatch, results: ResultStore, result_bytes: int) -> None:
        self._dispatch = dispatch
        self._results = results
        self._result_bytes = result_bytes
        self._checks: OrderedDict[tuple[str, type[Check]], tuple[JsonObject, Check]] = OrderedDict()

    async def call(self, tool: Tool, call: Call, reader: Reader, clearing: Clearing | None = None) -> JsonObject:
        """The upstream's result, whole or bounded, with the tool's id in `_meta["toolfold/tool"]`. What of it is kept is
        kept for the reader.

        Raises:
            GatewayError: arguments that do not fit; the upstream was not called.
            UpstreamFailure: the upstream could not answer.
        """
        prepared = await self._prepare(tool, call)
        if clearing is not None:
            prepared = await self._cleared(tool, call, prepared, clearing)
        output_check = await self._output_check(tool)
        is_behind_gateway = ":" in tool.name
        meta = told_holder(reader.holder, call.meta) if is_behind_gateway else call.meta
        try:
            result = await self._dispatch(tool.upstream, tool.name, prepared.arguments, meta, call.on_progress)
        except UpstreamError as error:
            raise UpstreamFailure(tool.upstream, error) from None
        if output_check is not None and result.get("isError") is not True:
            await _check_output(tool, output_check, result)
        return _labelled(bound(_with_content(result), self._most(call), self._results, reader), tool, prepared)

    async def read_result(self, call: Call, reader: Reader, gateways: Callable[[], Iterable[str]]) -> JsonObject:
        """The rest of a result that was too long for us, or for one of the gateways behind us, which has kept it.

        Raises:
            GatewayError: the reference is unknown or has expired, or the arguments do not fit.
        """
        arguments = _read_arguments(call)
        offset = arguments.get("offset", 0)
        assert isinstance(offset, (int, float))  # JSON Schema takes 5.0 for an integer
        try:
            return self._results.read(str(arguments["ref"]), int(offset), self._most(call), reader)
        except GatewayError as unknown:
            if unknown.code != "unknown_result":
                raise
            read = await self._read_behind(arguments, call, reader, gateways())
            if read is None:
                raise
            return read

    async def _read_behind(
        self, arguments: JsonObject, call: Call, reader: Reader, gateways: Iterable[str]
    ) -> JsonObject | None:
        meta = told_holder(reader.holder, call.meta)
        for owner in gateways:
            try:
                result = await self._dispatch(owner, READ_RESULT_ID, arguments, meta)
            except UpstreamError:
                continue
            if result.get("isError") is not True:
                return bound(_with_content(result), self._most(call), self._results, reader)
        return None

    def _most(self, call: Call) -> int:
        return max(self._result_bytes, CHAINED_RESULT_BYTES) if PATH_META in call.meta else self._result_bytes

    async def _cleared(self, tool: Tool, call: Call, prepared: Prepared, clearing: Clearing) -> Prepared:
        changed = await clearing.hooked(tool, prepared.arguments)
        if changed is not None:
            prepared = await self._prepare(tool, replace(call, arguments=changed, form="direct"))
        await clearing.approved(tool, prepared.arguments, call.ask)
        return prepared

    async def _prepare(self, tool: Tool, call: Call) -> Prepared:
        check = await self._compiled(tool, tool.input_schema, ArgumentCheck)
        work = check.from_call if call.form == "envelope" else check.from_direct
        own_names = (tool.id, tool.name, tool.bare_name)
        try:
            if check.weight <= INLINE_WEIGHT and _is_small(call.arguments):
                return work(call.arguments, own_names)
            return await anyio.to_thread.run_sync(work, call.arguments, own_names)
        except InvalidArguments as invalid:
            expected = signature(tool.input_schema)
            hint = explain(invalid.problems, expected, by_its_own_name=call.form == "direct")
            raise GatewayError("invalid_arguments", f"Invalid arguments for {tool.id}.", hint) from None

    async def _output_check(self, tool: Tool) -> ResultCheck | None:
        """Compiled before the call, so that an unusable schema costs no side effect."""
        schema = tool.output_schema
        if not tool.trusted or schema is None:
            return None
        return await self._compiled(tool, schema, ResultCheck)

    async def _compiled(self, tool: Tool, schema: JsonObject, kind: type[CheckT]) -> CheckT:
        """The compiled schema of this very definition; a tool that was listed anew is compiled anew."""
        key = (tool.id, kind)
        known = self._checks.get(key)
        if known is not None and known[0] is tool.definition:
            self._checks.move_to_end(key)
            assert isinstance(known[1], kind)
            return known[1]
        try:
            check = await anyio.to_thread.run_sync(kind, schema)
        except UnusableSchema as unusable:
            which = "inputSchema" if kind is ArgumentCheck else "outputSchema"
            raise GatewayError(
                "unusable_schema",
                f"{tool.id} was not called: its {which} is unusable ({unusable}).",
                "Its server must mend it.",
            ) from None
        self._checks[key] = (tool.definition, check)
        if len(self._checks) > COMPILED_SCHEMAS:
            self._checks.popitem(last=False)
        return check


def _read_arguments(call: Call) -> JsonObject:
    check = ArgumentCheck(READ_RESULT_SCHEMA)
    try:
        return (check.from_call if call.form == "envelope" else check.from_direct)(call.arguments).arguments
    except InvalidArguments as invalid:
        expected = signature(READ_RESULT_SCHEMA)
        raise GatewayError("invalid_arguments", "Nothing was read.", explain(invalid.problems, expected)) from None


async def _check_output(tool: Tool, check: ResultCheck, result: JsonObject) -> None:
    if "structuredContent" not in result:
        raise _bad_output(tool, "it has no structuredContent")
    faults = await anyio.to_thread.run_sync(check.faults, result["structuredContent"])
    if faults:
        raise _bad_output(tool, " ".join(fault.message for fault in faults[:3]))


def _bad_output(tool: Tool, why: str) -> GatewayError:
    return GatewayError(
        "invalid_output",
        f"{tool.id} ran, but its result does not satisfy its outputSchema: {why.rstrip('.')}.",
        "Side effects may exist: look before you call it again.",
    )


def _with_content(result: JsonObject) -> JsonObject:
    """Some servers answer with structured content alone; hosts want the list to be there."""
    return result if "content" in result else {"content": [], **result}


def _labelled(result: JsonObject, tool: Tool, prepared: Prepared) -> JsonObject:
    meta = result.get("_meta")
    labelled: JsonObject = {**(meta if isinstance(meta, dict) else {}), TOOL_META: tool.id}
    if prepared.repairs:
        labelled[REPAIRS_META] = list(prepared.repairs)
    return {**result, "_meta": labelled}


def _is_small(arguments: JsonObject) -> bool:
    return all(
        not isinstance(value, (list, dict)) or len(value) <= INLINE_ARGUMENT_ITEMS for value in arguments.values()
    )


class UpstreamFailure(GatewayError):
    """An upstream's failure in words for the model: who, what, whether it may have run, and what to do."""

    def __init__(self, owner: str, error: UpstreamError) -> None:
        if isinstance(error, UpstreamRefused):
            data = "" if error.data is None else f"; data: {one_line(str(error.data), ERROR_DATA_CHARACTERS)}"
            said = one_line(error.message, ERROR_CHARACTERS)
            message = f"{owner} refused the call: {said} (JSON-RPC error {error.rpc_code}{data})."
        else:
            effects = "It may have run: look before you call it again." if error.ran else "It did not run."
            message = f"{owner}: {one_line(error.message, ERROR_CHARACTERS)}. {effects}"
        super().__init__(error.code, message, error.hint)
