"""What one caller may see and call of what there is: the operator's words per tool id, for everybody and per profile.

Laws
1. Whatever more is known of a caller takes something away, never gives: every set of rules that applies must let a tool
   pass, and the strictest verdict counts. A name that a client gives itself can only add a set of rules.
2. A tool that a caller may not see is, to this caller, one that was never there.
3. A profile that is not configured lets nothing pass.
4. What takes something away goes by the id and, behind gateways, by the ids there; what gives goes by the whole id alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from typing import Final

from index import Tool
from server.clean import one_line
from server.config import OPENCLAW, ConfigError, GatewaySettings, PolicySettings, ProfileSettings, Settings

MOST_NAMED: Final = 10
"""Profiles that an error names."""


LEAST_COLONS: Final = 2
"""Of an id: `source:owner:name`."""


class Verdict(IntEnum):
    """What becomes of a call, the strictest last."""

    ALLOW = 0
    ASK = 1
    BLOCK = 2


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as far as the policy goes by it. `client` is what the client calls itself, and proves nothing.

    `is_known`: it came over the pipe of the host that started us, or with a token. `session` is what tells callers over HTTP
    apart, for whom results are kept; it decides nothing else.
    """

    profile: str = ""
    client: str = ""
    is_known: bool = True
    session: str = ""


OWNER: Final = Caller()
"""Whoever starts the gateway or its commands, under no profile."""


@dataclass(frozen=True, slots=True)
class Access:
    """What callers of one kind may do. `profiles` are those that apply."""

    everybody: PolicySettings
    profiles: tuple[str, ...]
    rules: tuple[ProfileSettings, ...]
    is_owner: bool
    sees_all: bool  # nothing is left out that the catalogue lets pass
    allows_all: bool  # of what is seen, everything may be called at once

    def sees(self, tool: Tool) -> bool:
        if self.sees_all:
            return True
        if not self.is_owner and forbids(self.everybody.owner_only, tool.id):
            return False
        return all(self._lets_see(rules, tool) for rules in self.rules)

    def verdict(self, tool: Tool) -> Verdict:
        """What becomes of a call of a tool that is seen."""
        if self.allows_all:
            return Verdict.ALLOW
        verdict = Verdict.ALLOW
        every: tuple[PolicySettings | ProfileSettings, ...] = (self.everybody, *self.rules)
        for rules in every:
            if rules.block and forbids(rules.block, tool.id):
                return Verdict.BLOCK
            if rules.ask and forbids(rules.ask, tool.id):
                verdict = Verdict.ASK
        return verdict

    def may_reach(self, owner: str) -> bool:
        """Whether some tool of this upstream might be seen. Errs towards yes."""
        return all(any(_may_pass(rules, begin) for begin in _beginnings(owner)) for rules in self.rules)

    def _lets_see(self, rules: ProfileSettings, tool: Tool) -> bool:
        if forbids(rules.deny, tool.id) or not matches(tool.id, rules.allow):
            return False
        return not rules.read_only or self._only_reads(tool)

    def _only_reads(self, tool: Tool) -> bool:
        """By the operator's word, or that of an upstream whose words are trusted."""
        annotations = tool.definition.get("annotations")
        says_so = isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
        return (tool.trusted and says_so) or matches(tool.id, self.everybody.read_only)


NOTHING_SEEN: Final = ProfileSettings(allow=(), deny=("*",))


class Accesses:
    """The access of every caller under one configuration."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._policy = settings.policy
        self._profiles = settings.profiles
        self._by_client = any(profile.clients for profile in settings.profiles.values())
        self._known: dict[tuple[tuple[str, ...], bool], Access] = {}  # as many as there are sets of profiles
        self._owners = _access(settings.policy, (), (), is_owner=True)

    def of(self, caller: Caller) -> Access:
        if caller.is_known and not caller.profile and not self._by_client:
            return self._owners
        names = self._names(caller)
        key = (names, caller.is_known and not names)
        access = self._known.get(key)
        if access is None:
            rules = tuple(self._profiles.get(name, NOTHING_SEEN) for name in names)
            access = self._known[key] = _access(self._policy, names, rules, is_owner=key[1])
        return access

    def _names(self, caller: Caller) -> tuple[str, ...]:
        own = (caller.profile,) if caller.profile else ()
        if not self._by_client or not caller.client:
            return own
        chosen = (name for name, profile in self._profiles.items() if matches(caller.client, profile.clients))
        return tuple(dict.fromkeys((*own, *sorted(chosen))))


def _access(
    policy: PolicySettings, names: tuple[str, ...], rules: tuple[ProfileSettings, ...], *, is_owner: bool
) -> Access:
    sees_all = all(_hides_nothing(one) for one in rules) and (is_owner or not policy.owner_only)
    verdicts = [*((one.ask, one.block) for one in rules), (policy.ask, policy.block)]
    return Access(policy, names, rules, is_owner, sees_all, not any(ask or block for ask, block in verdicts))


def _hides_nothing(rules: ProfileSettings) -> bool:
    return "*" in rules.allow and not rules.deny and not rules.read_only


def check_profile(settings: Settings, name: str) -> None:
    """Raises ConfigError where there is no such profile: nobody is served under one that says nothing."""
    if name and name not in settings.gateway.profiles:
        known = ", ".join(sorted(settings.gateway.profiles)[:MOST_NAMED]) or "none"
        message = f"There is no profile {one_line(name, 60)!r} under gateway.profiles."
        raise ConfigError("unknown_profile", message, f"Those that there are: {one_line(known, 300)}.")


def _beginnings(owner: str) -> tuple[str, ...]:
    """How the ids of an upstream's tools may begin. A server may be called as an OpenClaw Gateway is."""
    of_server = f"mcp:{owner}:"
    return (of_server, f"{OPENCLAW}:") if owner == OPENCLAW else (of_server,)


def _may_pass(rules: ProfileSettings, beginning: str) -> bool:
    """Whether these rules might let some id pass that begins so."""
    denied = {"*", f"{beginning}*"}
    return any(could_match(pattern, beginning) for pattern in rules.allow) and denied.isdisjoint(rules.deny)


def matches(text: str, patterns: Iterable[str]) -> bool:
    """Whether one of these globs is for the whole of the text."""
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def forbids(patterns: Iterable[str], tool_id: str) -> bool:
    """Whether one of these globs is for an id, or for one that the tool has behind gateways."""
    return any(matches(one, patterns) for one in _ids_of(tool_id))


def _ids_of(tool_id: str) -> Iterator[str]:
    """`mcp:team:mcp:github:x` is also `mcp:github:x`."""
    while tool_id.count(":") >= LEAST_COLONS:
        yield tool_id
        tool_id = tool_id.split(":", LEAST_COLONS)[LEAST_COLONS]


def could_match(pattern: str, prefix: str) -> bool:
    """Whether the pattern could match an id that begins with `prefix`. Errs towards yes."""
    literal = pattern.split("*", maxsplit=1)[0].split("?", maxsplit=1)[0].split("[", maxsplit=1)[0]
    return literal.startswith(prefix) or prefix.startswith(literal)
