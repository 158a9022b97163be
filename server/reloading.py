"""Follows the configuration files while a gateway runs: a good edit comes into force, of a bad one nothing does.

Laws
1. An edit is taken whole or not at all. While one is not taken, that and why is told, until the next one is.
2. A file is read when it has stopped changing: editors write in several steps.
3. Nothing here runs on the event loop but the exchange itself.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from server.config import ConfigError, Finding, Settings, Stamp, stamps

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
"""Between two looks at the files' times: soon for a person, and nothing for the machine."""

STILL_SECONDS: Final = 0.1
"""A file that has not changed for so long is finished."""

MOST_LOOKS: Final = 20
"""A file that never stops changing is read all the same."""

UNUSABLE: Final = frozenset({"wrong_type", "bad_policy", "bad_token", "too_many_servers"})
"""Errors that make a start close doors. An edit that has one is not taken: what works goes on working."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why the files as they are now are not in force. Nothing of their content."""

    since: float
    why: str


@dataclass(frozen=True, slots=True)
class Following:
    """What is done with the files. `reread` raises ConfigError, and so may `adopt`, before anything has changed."""

    reread: Callable[[], Settings]
    adopt: Callable[[Settings], Awaitable[None]]
    report: Callable[[Refused | None], None]


async def follow(settings: Settings, following: Following, look_seconds: float = LOOK_SECONDS) -> None:
    """Takes every edit of these settings' files, and of stored answers, from now on. Ends only by cancellation."""
    paths, current, seen = settings.sources, settings, (Stamp(),) * len(settings.sources)
    while True:  # the first round reads the files again: they may have changed since they were read
        await anyio.sleep(look_seconds)
        followed = current.sources + current.answers
        if followed != paths:
            known = dict(zip(paths, seen, strict=True))
            paths, seen = followed, tuple(known.get(path, Stamp()) for path in followed)
        now = await _still(paths, seen)
        if not _same(now, seen):
            current = await _take(current, following)
        seen = now


async def _take(current: Settings, following: Following) -> Settings:
    """The settings in force afterwards."""
    try:
        settings = await anyio.to_thread.run_sync(following.reread, abandon_on_cancel=True)
        if (settings.servers, settings.gateway) != (current.servers, current.gateway):
            _check(settings.findings)
            await following.adopt(settings)
            logger.info("the configuration was changed and is in force")
    except ConfigError as error:
        logger.warning("the configuration was changed and is not taken; what was in force stays. %s", error)
        following.report(Refused(time.time(), str(error)))
        return current
    _tell_of(settings.findings, current.findings)
    following.report(None)
    return settings


def _check(findings: Sequence[Finding]) -> None:
    for finding in findings:
        if finding.severity == "error" and finding.code in UNUSABLE:
            raise ConfigError(finding.code, f"{finding.where}: {finding.message}", finding.fix)


def _tell_of(findings: Sequence[Finding], known: Sequence[Finding]) -> None:
    for finding in findings:
        if finding.severity != "note" and finding not in known:
            logger.warning("%s: %s %s", finding.where, finding.message, finding.fix)


async def _still(paths: Sequence[Path], seen: Sequence[Stamp]) -> tuple[Stamp, ...]:
    """The files once they have stopped changing."""
    now = await _look(paths, seen)
    for _ in range(MOST_LOOKS):
        if _same(now, seen):
            break
        await anyio.sleep(STILL_SECONDS)
        now, seen = await _look(paths, now), now
    return now


async def _look(paths: Sequence[Path], known: Sequence[Stamp]) -> tuple[Stamp, ...]:
    return await anyio.to_thread.run_sync(partial(stamps, paths, known), abandon_on_cancel=True)


def _same(now: Sequence[Stamp], then: Sequence[Stamp]) -> bool:
    return all(one.is_same_as(other) for one, other in zip(now, then, strict=True))
