"""`toolfold approve`: a person allows a tool ahead that the policy wants asked about."""

from typing import Annotated

import typer

from index import Tool
from server.approvals import DEFAULT_MINUTES, MOST_MINUTES, Approvals
from server.cli.configured import answered
from server.cli.engine import Engine, run
from server.cli.exits import ExitCode, Failure
from server.cli.options import AsJson, ConfigFiles, Wait, WaitSeconds
from server.cli.output import reporting
from server.errors import GatewayError
from server.keeper import upstream_in


def approve(
    tool: Annotated[str, typer.Argument(help="The tool's id or its name.")],
    minutes: Annotated[
        int, typer.Option("--for", min=1, max=MOST_MINUTES, metavar="MINUTES", help="For how long.")
    ] = DEFAULT_MINUTES,
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="For callers under this profile, instead of those under none.")
    ] = "",
    config: ConfigFiles = None,
    wait: WaitSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Allow ahead, for some minutes and as it is now, a tool that `ask` of the policy or a profile is about.

    For hosts that cannot ask their person. Gateways that run take note at once.
    """
    with reporting(as_json=as_json) as output:
        found = answered(config or [], upstream_in(tool))

        async def look(engine: Engine) -> Tool:
            known = await engine.find(tool, Wait(wait), live=False)
            try:
                Approvals(found.directories.state).add(known, profile, minutes)
            except OSError as error:
                failure = GatewayError("not_stored", f"It could not be written down ({error.strerror}).")
                raise Failure(ExitCode.FAILED, failure) from None
            return known

        allowed = run(found, output, look)
        if as_json:
            output.json({"id": allowed.id, "minutes": minutes, "profile": profile, "warning": allowed.warning})
            return
        output.say(f"{allowed.id} may be run for {minutes} minute{'' if minutes == 1 else 's'}.")
        if allowed.warning:
            output.say(f"Look at it with `toolfold trust {allowed.upstream} {allowed.name}`: {allowed.warning}.")
