"""`toolfold approve`: a person allows a tool ahead that the policy wants asked about."""

from typing import Annotated

import typer

from index import Tool
from server.access import Accesses, Caller, Verdict, check_profile
from server.approvals import DEFAULT_MINUTES, MOST_MINUTES, Approvals, taken_apart
from server.cli.configured import answered
from server.cli.engine import Engine, run
from server.cli.exits import ExitCode, Failure
from server.cli.options import AsJson, ConfigFiles, Wait, WaitSeconds
from server.cli.output import reporting
from server.config import ConfigError, Settings
from server.errors import GatewayError
from server.keeper import upstream_in


def approve(
    tool: Annotated[str, typer.Argument(metavar="ID", help="The tool's id, or its bare name if no other has it.")],
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
    with reporting(as_json=as_json, config=config) as output:
        found = answered(config or [], upstream_in(tool))
        verdicts: list[Verdict] = []

        async def look(engine: Engine) -> Tool:
            known = await engine.find(tool, Wait(wait), live=False)
            verdicts.append(_verdict(known, profile, found.settings))
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
        anyway = "" if verdicts == [Verdict.ASK] else " It may be run without that, too: no `ask` is about it."
        output.say(f"{allowed.id} may be run for {minutes} minute{'' if minutes == 1 else 's'}.{anyway}")
        if allowed.warning:
            output.say(f"Look at it with `toolfold trust {allowed.upstream} {allowed.name}`: {allowed.warning}.")


def _verdict(tool: Tool, profiles: str, settings: Settings) -> Verdict:
    """What becomes of a call of it, for callers under all these profiles.

    Raises:
        Failure: there is no such profile, or an approval changes nothing for them.
    """
    names = taken_apart(profiles)
    accesses = Accesses(settings.gateway)
    try:
        for name in names:
            check_profile(settings, name)
    except ConfigError as error:
        raise Failure(ExitCode.CONFIGURATION, error) from None
    every = [accesses.of(Caller(profile=name)) for name in names]
    if not all(access.sees(tool) for access in every):
        hint = "Its allow, deny or readOnly, or policy.ownerOnly, leave it out."
        raise Failure(
            ExitCode.FAILED, GatewayError("not_visible", f"{tool.id} is not there for profile {profiles}.", hint)
        )
    verdict = max(access.verdict(tool) for access in every)
    if verdict is Verdict.BLOCK:
        blocked = GatewayError("blocked", f"{tool.id} is blocked, and no approval opens it.", "Take it out of `block`.")
        raise Failure(ExitCode.FAILED, blocked)
    return verdict
