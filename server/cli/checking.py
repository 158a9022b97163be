"""`toolfold check`: what is wrong, or will be somewhere else, with the way out of each. Starts nothing without `--probe`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Final

import typer

from server.cli import rendering
from server.cli.coding import code_findings
from server.cli.configured import Configured, configured
from server.cli.engine import Engine, run
from server.cli.exits import ExitCode
from server.cli.openclaw_names import name_findings
from server.cli.options import FLAG, AsJson, ConfigFiles, Wait, WaitSeconds
from server.cli.output import Output, reporting
from server.cli.packages import foreign_package_findings, semantic_findings, unpinned_findings
from server.cli.probing import Probed, Report, absent, probe, unusable
from server.cli.programs import hook_findings, program_findings
from server.cli.upstreams import entry_of
from server.config import Finding, ServerEntry, Settings
from server.listing_cache import ListingCache
from server.redaction import Redactor
from server.standing import startable
from upstream_clients import JsonObject

SEVERITIES: Final = ("error", "warning", "note")
ADD_ONE: Final = 'Write {"mcpServers": {"NAME": {"command": "PROGRAM"}}}, or give a host\'s file: --config FILE.'


def check(
    upstream: Annotated[
        str | None, typer.Argument(metavar="UPSTREAM", help="Only what concerns this upstream.", show_default=False)
    ] = None,
    probing: Annotated[
        bool,
        typer.Option("--probe", metavar=FLAG, help="Start the upstreams for real, and report those that fail and why."),
    ] = False,
    config: ConfigFiles = None,
    wait: WaitSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Look for what is wrong: in the configuration, with the programs it starts, with the tools that are known of its
    upstreams, and with this installation.

    Every finding says where, what it means and what to do. The exit code is 1 if there is an error among them.
    """
    with reporting(as_json=as_json, config=config) as output:
        found = configured(config or [])
        chosen = None if upstream is None else entry_of(upstream, found.settings)
        servers = found.settings.servers if chosen is None else (chosen,)
        waiting = Wait(wait) if probing else None
        probed = (
            run(found, output, partial(_look, found=found, chosen=chosen, wait=waiting))
            if probing or _knows_tools(found)
            else Probed((), ())
        )
        reports = _sorted([*(Report(one) for one in _static(found, chosen, servers)), *probed.reports])
        _show(found.settings, reports, probed, output)
        if any(report.finding.severity == "error" for report in reports):
            raise typer.Exit(ExitCode.FAILED)


def _knows_tools(found: Configured) -> bool:
    """Whether there is a tool to judge before anything is started."""
    cache, servers = ListingCache(found.directories.cache, Redactor(())), startable(found.settings)
    stored = (cache.read(owner, server.fingerprint) for owner, server in servers.items())
    return bool(found.settings.gateway.client_tools) or any(listing is not None for listing in stored)


async def _look(engine: Engine, found: Configured, chosen: ServerEntry | None, wait: Wait | None) -> Probed:
    """What can be told once upstreams have been started, or without `wait`, of their stored listings."""
    servers = found.settings.servers if chosen is None else (chosen,)
    probed = Probed((), ()) if wait is None else await probe(engine, servers, wait)
    schemas = found.settings.gateway.tool_search.directory.schemas if chosen is None else ()
    reports = unusable(engine, None if chosen is None else chosen.owner)
    return replace(probed, reports=(*probed.reports, *reports, *absent(engine, schemas)))


def _static(found: Configured, chosen: ServerEntry | None, servers: Sequence[ServerEntry]) -> Iterator[Finding]:
    settings = found.settings
    for finding in settings.findings:
        if chosen is None or _entry_of(finding, settings.servers) is chosen:
            yield finding
    yield from program_findings(servers, found.environ)
    yield from unpinned_findings(servers)
    yield from name_findings(servers)
    if chosen is None:
        yield from _without_servers(settings)
        yield from hook_findings(settings, found.environ)
        yield from foreign_package_findings()
        yield from code_findings(found)
        yield from semantic_findings(settings)


def _without_servers(settings: Settings) -> Iterator[Finding]:
    """A gateway over nothing is no error: files are followed, and a server may be added while it runs."""
    if all(server.disabled for server in settings.servers):
        what = "Every server in it is disabled." if settings.servers else "There are no servers in it."
        files = ", ".join(str(source) for source in settings.sources)
        fix = "Take `disabled` out of one." if settings.servers else ADD_ONE
        yield Finding("warning", "no_servers", files, f"{what} A host will find no tools.", fix)


def _entry_of(finding: Finding, servers: Iterable[ServerEntry]) -> ServerEntry | None:
    """The entry that a finding of the configuration is about. A key may have dots, so the longest that fits is meant."""
    fitting = (server for server in servers if f"{finding.where}.".startswith(f"{server.where}."))
    return max(fitting, key=lambda server: len(server.where), default=None)


def _sorted(reports: Iterable[Report]) -> list[Report]:
    return sorted(reports, key=lambda report: SEVERITIES.index(report.finding.severity))


def _show(settings: Settings, reports: Sequence[Report], probed: Probed, output: Output) -> None:
    findings = [_described(report) for report in reports]
    if output.as_json:
        document: JsonObject = {"files": [str(source) for source in settings.sources], "findings": findings}
        if probed.upstreams:
            document["upstreams"] = list(probed.upstreams)
        output.json(document)
        return
    rendering.findings(findings, output)
    if probed.upstreams:
        rendering.probed(list(probed.upstreams), output)
    count = Counter(report.finding.severity for report in reports)
    said = [f"{count[name]} {name}{'' if count[name] == 1 else 's'}" for name in SEVERITIES if count[name]]
    files = ", ".join(str(source) for source in settings.sources)
    output.say(
        f"{', '.join(said) or 'Nothing to mend'} in {files}" + ("" if probed.upstreams else "; nothing was started.")
    )


def _described(report: Report) -> JsonObject:
    words: JsonObject = {"last_words": list(report.last_words)} if report.last_words else {}
    return {**asdict(report.finding), **words}
