"""`toolfold list`, `search` and `describe`: what tools there are. Each gathers one document, and then shows it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypeAlias

import typer

from index import Exposure, Tool
from server.answers import DESCRIPTION_CHARACTERS, LABEL_CHARACTERS
from server.clean import one_line
from server.cli import billing, hits, rendering
from server.cli.configured import answered
from server.cli.documents import inner
from server.cli.engine import Engine, down, has_failed, run, still_starting
from server.cli.exits import ExitCode, Failure
from server.cli.options import FLAG, AsJson, ConfigFiles, Refresh, Wait, WaitSeconds
from server.cli.output import reporting
from server.cli.remedies import remedy
from server.cli.upstreams import enabled_owner
from server.client_tools import CLIENT
from server.errors import GatewayError
from server.keeper import upstream_in
from server.surface import Surface
from upstream_clients import JsonObject, UpstreamStatus

Account: TypeAlias = Callable[[Iterable[Tool], Surface], JsonObject]
"""What works out the bill of these tools."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a list is of: one upstream's tools or all, with hidden ones or without, and with their bill if that is asked."""

    owner: str | None
    everything: bool
    account: Account | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A search, as it is asked for."""

    query: str
    limit: int | None
    explain: bool


def list_tools(
    upstream: Annotated[
        str | None, typer.Argument(metavar="UPSTREAM", help="Only the tools of this upstream.", show_default=False)
    ] = None,
    config: ConfigFiles = None,
    wait: WaitSeconds = None,
    refresh: Refresh = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", metavar=FLAG, help="Name also the tools that the configuration hides, and what hides each."
        ),
    ] = False,
    bill: Annotated[
        bool, typer.Option("--bill", metavar=FLAG, help="Add what all the tools would cost in a prompt, and folded.")
    ] = False,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", metavar=FLAG, help="The same with tokens counted (o200k), which needs the extra `tokens`."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List every tool by upstream, with those that cannot be used and why. What the configuration hides is counted.

    Upstreams whose tools are not known yet are started. For the others the stored listing is shown.
    """
    with reporting(as_json=as_json, config=config) as output:
        found = answered(config or [], upstream or "")
        owner = None if upstream is None else enabled_owner(upstream, found.settings)
        show = Shown(owner, everything, partial(billing.bill, exact=exact) if bill or exact else None)
        listing, failure = run(found, output, partial(_list, show=show, wait=Wait(wait, refresh)))
        if as_json:
            output.json(listing, failure)
        else:
            rendering.listing(listing, output)
            if show.account is not None:
                billing.show_bill(inner(listing, "bill"), output)
        if failure is not None:
            raise failure


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What the tool should do, in a few words.")],
    limit: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--limit",
            metavar="N",
            min=1,
            show_default="toolSearch.searchDefaultLimit",
            help="Hits, at most.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", metavar=FLAG, help="Show for each hit which words scored what in which of its fields."
        ),
    ] = False,
    config: ConfigFiles = None,
    wait: WaitSeconds = None,
    refresh: Refresh = False,
    as_json: AsJson = False,
) -> None:
    """Find tools by what they do, as a model does with tool_search: the best first.

    Upstreams whose tools are not known yet are started.
    """
    with reporting(as_json=as_json, config=config) as output:
        asked = Asked(" ".join(query), limit, explain)
        work = partial(_search, asked=asked, wait=Wait(wait, refresh))
        answer, starting = run(answered(config or []), output, work)
        is_premature = bool(starting) and not answer["tools"]
        failure = still_starting("Nothing was found yet", starting) if is_premature else None
        if as_json:
            output.json(answer, failure)
        else:
            hits.show(answer, output)
        if failure is not None:
            raise failure


def describe(
    tool: Annotated[str, typer.Argument(metavar="ID", help="The tool's id, or its bare name if no other has it.")],
    config: ConfigFiles = None,
    wait: WaitSeconds = None,
    refresh: Refresh = False,
    as_json: AsJson = False,
) -> None:
    """Show one tool: what it does, what it takes, and what its upstream says of itself.

    `--json` prints all that is known of it, as a model gets it from tool_describe.
    """
    with reporting(as_json=as_json, config=config) as output:
        found = answered(config or [], upstream_in(tool))
        description, warning = run(found, output, partial(_describe, reference=tool, wait=Wait(wait, refresh)))
        if as_json:
            output.json(description)
        else:
            rendering.description(description, warning, output)


async def _list(engine: Engine, show: Shown, wait: Wait) -> tuple[JsonObject, Failure | None]:
    owner = show.owner
    chosen = engine.startable() if owner is None else engine.startable() & {owner}
    await engine.bring_up(chosen if wait.refresh else chosen & engine.unlisted(), wait)
    statuses = [status for _, status in sorted(engine.statuses().items()) if owner in (None, status.owner)]
    tools = [tool for tool in engine.tools() if owner in (None, tool.upstream)]
    shown = [_listed(tool) for tool in tools if show.everything or tool.exposure is not Exposure.HIDDEN]
    upstreams = [engine.described_upstream(status) for status in statuses]
    document: JsonObject = {"upstreams": upstreams, "tools": shown}
    if owner is None and (counts := engine.host_tools()):
        document["host"] = {"tools": counts}
    if show.account is not None:
        document["bill"] = show.account(engine.tools(), engine.gateway.surface())
    return document, None if tools else _why_nothing(statuses, engine)


def _listed(tool: Tool) -> JsonObject:
    listed: JsonObject = {
        "id": tool.id,
        **({"source": CLIENT} if tool.source == CLIENT else {"upstream": tool.upstream}),
        "name": tool.name,
        "label": one_line(tool.label, LABEL_CHARACTERS),
        "description": one_line(tool.description, DESCRIPTION_CHARACTERS),
        "exposure": str(tool.exposure),
    }
    if tool.reason:
        listed["reason"] = tool.reason
    if tool.exposure is Exposure.QUARANTINED:
        listed["fix"] = remedy(tool)
    if tool.warning:
        listed["warning"] = tool.warning
    if tool.cached:
        listed["cached"] = True
    return listed


def _why_nothing(statuses: list[UpstreamStatus], engine: Engine) -> Failure | None:
    """What explains that there are no tools; None when there simply are none."""
    names = {status.owner for status in statuses}
    if starting := [owner for owner in engine.still_starting() if owner in names]:
        return still_starting("No tools are known yet", starting)
    failed = [status for status in statuses if has_failed(status)]
    if not failed or len(failed) < len(statuses):
        return None
    if len(failed) == 1:
        return down(failed[0])
    error = GatewayError("upstream_down", "No upstream could be started.", "See `toolfold check --probe`.")
    return Failure(ExitCode.FAILED, error)


async def _search(engine: Engine, asked: Asked, wait: Wait) -> tuple[JsonObject, list[str]]:
    await engine.bring_up(engine.startable() if wait.refresh else engine.unlisted(), wait)
    await engine.index()
    look_up = engine.gateway.explain if asked.explain else engine.gateway.search
    try:
        return await look_up(asked.query, asked.limit), engine.still_starting()
    except GatewayError as error:
        raise Failure(ExitCode.USAGE, error) from None


async def _describe(engine: Engine, reference: str, wait: Wait) -> tuple[JsonObject, str]:
    """What a model gets, and what a person is warned of beside it."""
    tool = await engine.find(reference, wait, live=False)
    return await engine.gateway.describe(tool.id), tool.warning
