"""The `gateway` object becomes `GatewaySettings`. A bad value falls back with a warning; a bad policy lets nothing pass."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from pydantic import StrictBool

from server.config.client_tools import read_client_tools
from server.config.findings import Finding, Findings, closest, shown
from server.config.keys import GATEWAY_NOT_YET, OPENCLAW, SECTION_NOT_YET
from server.config.sections import (
    JsonObject,
    Mended,
    keys_of,
    read_section,
    unknown_keys,
    warn_of_mended,
    warn_of_unknown_keys,
)
from server.config.settings import (
    GatewaySettings,
    Hints,
    HookSettings,
    HttpSettings,
    LimitSettings,
    LogSettings,
    Names,
    Pinning,
    PolicySettings,
    ProfileSettings,
    Section,
    StartupSettings,
    TokenSettings,
)
from server.config.tool_search import read_tool_search

SectionT = TypeVar("SectionT", bound=Section)

# Every key that `gateway` may have.
GATEWAY_KEYS = keys_of(GatewaySettings) | {OPENCLAW}

# What narrows who may do what. A slip in one of these keys must not leave open what it was meant to close.
GUARDS = frozenset(("policy", "profiles", "hooks", "pins"))

# What a policy that cannot be read amounts to: nothing passes until it is mended, rather than everything.
NOTHING_PASSES = PolicySettings(allow=(), deny=("*",))

# What tokens that cannot be read amount to: one is asked for, and none is right.
NOBODY_MAY_ENTER = HttpSettings(tokens={"unreadable": TokenSettings()})

# What a hook that cannot be read, or must not be run, amounts to: a program that cannot be started, which blocks.
NO_HOOK = ("",)

_TOKEN_HASH = re.compile(r"(?:sha256:)?([0-9a-f]{64})")

_SOURCES = frozenset(("mcp", "openclaw", "client", "toolfold"))
_GLOB_CHARACTERS = frozenset("*?[")


class _Plain(Section):
    """The settings that stand in `gateway` itself."""

    direct_tools: Names = ()
    hints: Hints = "off"
    pins: Pinning = "warn"
    semantic: StrictBool = False


def read_gateway(written: object, where: str, findings: Findings) -> GatewaySettings:
    if written is None:
        return GatewaySettings()
    if not isinstance(written, dict):
        message = "`gateway` should be an object; nothing of it can be read, a policy neither, so no tool is reachable."
        findings.add(Finding("error", "wrong_type", where, message, "Correct it, or leave it out."))
        return GatewaySettings(policy=NOTHING_PASSES)
    warn_of_unknown_keys(written, GATEWAY_KEYS, where, findings, GATEWAY_NOT_YET)
    _note_not_yet(written, GATEWAY_NOT_YET, where, findings)
    plain = read_section(_Plain, written)
    warn_of_mended(plain.mended, where, findings)
    profiles = _profiles(written.get("profiles"), f"{where}.profiles", findings)
    policy = _policy(written.get("policy"), f"{where}.policy", findings)
    if slip := misspelt_guard(written, GATEWAY_KEYS | GATEWAY_NOT_YET):
        policy = _no_policy(f"`{shown(slip)}` may have been meant to keep something back", where, findings)
    return GatewaySettings(
        profiles=profiles,
        hooks=_hooks(written, where, findings),
        tool_search=read_tool_search(written.get("toolSearch"), f"{where}.toolSearch", findings),
        client_tools=read_client_tools(written.get("clientTools"), f"{where}.clientTools", findings),
        policy=policy,
        startup=_section(StartupSettings, "startup", (written, where), findings),
        limits=_section(LimitSettings, "limits", (written, where), findings),
        log=_section(LogSettings, "log", (written, where), findings),
        http=_http(written, where, findings, profiles),
        direct_tools=plain.section.direct_tools,
        hints=plain.section.hints,
        semantic=plain.section.semantic,
        pins="strict" if any(mended.key == "pins" for mended in plain.mended) else plain.section.pins,
    )


def misspelt_guard(written: Iterable[str], known: Collection[str]) -> str:
    """A key that nobody knows and that looks like one of GUARDS; "" if there is none."""
    return next((key for key in unknown_keys(written, known) if closest(key, known) in GUARDS), "")


def warn_of_patterns(gateway: GatewaySettings, owners: Collection[str], where: str, findings: Findings) -> None:
    """Tells which ids and globs can match nothing: a slip in `deny` would leave open what it was meant to close."""
    lists = {
        "directTools": gateway.direct_tools,
        "policy.allow": gateway.policy.allow,
        "policy.deny": gateway.policy.deny,
        "toolSearch.directory.schemas": gateway.tool_search.directory.schemas,
        "policy.ask": gateway.policy.ask,
        "policy.block": gateway.policy.block,
        "policy.ownerOnly": gateway.policy.owner_only,
        "policy.readOnly": gateway.policy.read_only,
    } | {
        f"profiles.{shown(name)}.{key}": patterns
        for name, profile in gateway.profiles.items()
        for key, patterns in (
            ("allow", profile.allow), ("deny", profile.deny), ("ask", profile.ask), ("block", profile.block)
        )
    }  # fmt: skip
    for key, patterns in lists.items():
        for pattern in patterns:
            fix = _slip(pattern, owners)
            if fix and not findings.is_full:
                findings.warn("matches_nothing", f"{where}.{key}", f"`{shown(pattern)}` matches no tool id.", fix)


def _slip(pattern: str, owners: Collection[str]) -> str:
    """How to mend a pattern that cannot match any id; "" if it may match one."""
    source, *rest = pattern.split(":", 2)
    if _GLOB_CHARACTERS & set(source):
        return ""
    if not rest or (len(rest) == 1 and not _GLOB_CHARACTERS & set(rest[0])):
        return f"Write `mcp:{shown(pattern)}`." if source in owners and rest else "Ids read `mcp:<server>:<tool>`."
    if source not in _SOURCES:
        return f"Did you mean `{closest(source, _SOURCES) or 'mcp'}:…`?"
    if source != "mcp" or _GLOB_CHARACTERS & set(rest[0]) or rest[0] in owners:
        return ""
    meant = closest(rest[0], owners)
    return f"Did you mean `mcp:{meant}:…`?" if meant else "There is no such key under `mcpServers`."


def _policy(written: object, where: str, findings: Findings) -> PolicySettings:
    if written is None:
        return PolicySettings()
    if not isinstance(written, dict):
        return _no_policy("`policy` should be an object", where, findings)
    warn_of_unknown_keys(written, keys_of(PolicySettings), where, findings)
    reading = read_section(PolicySettings, written)
    if slip := _slip_in(reading.mended, unknown_keys(written, keys_of(PolicySettings))):
        return _no_policy(slip, where, findings)
    return reading.section


def _slip_in(mended: Sequence[Mended], unknown: Sequence[str]) -> str:
    """What in these rules may have been meant to keep something back, and cannot be read; "" if all can."""
    if mended:
        return mended[0].message.rstrip(".")
    return f"`{shown(unknown[0])}` is not known, and may have been meant to keep something back" if unknown else ""


def _no_policy(reason: str, where: str, findings: Findings) -> PolicySettings:
    findings.add(
        Finding("error", "bad_policy", where, f"{reason}; no tool is reachable.", "Write a list of ids or globs.")
    )
    return NOTHING_PASSES


def _http(gateway: JsonObject, where: str, findings: Findings, profiles: Collection[str]) -> HttpSettings:
    """What cannot be read never opens the door: a hash that is none stays as one that no token has."""
    written, place = gateway.get("http"), f"{where}.http.tokens"
    settings = _section(HttpSettings, "http", (gateway, where), findings)
    tokens = written.get("tokens") if isinstance(written, dict) else written
    if tokens is not None and not (isinstance(tokens, dict) and settings.tokens.keys() == tokens.keys()):
        fix = 'Write {"NAME": "sha256:HASH"}.'
        findings.add(Finding("error", "bad_token", place, "The tokens cannot be read; nobody may enter.", fix))
        return settings.model_copy(update={"tokens": NOBODY_MAY_ENTER.tokens})
    read = {name: _token(name, token, place, (findings, profiles)) for name, token in settings.tokens.items()}
    return settings.model_copy(update={"tokens": read})


def _token(name: str, token: TokenSettings, place: str, around: tuple[Findings, Collection[str]]) -> TokenSettings:
    findings, profiles = around
    match, fix = _TOKEN_HASH.fullmatch(token.hash), ""
    if match is None:
        message = f"`{shown(name)}` is not the SHA-256 of a token; nobody may enter with it."
        fix = "Write sha256: and the 64 digits that `printf %s TOKEN | sha256sum` prints."
    elif token.profile and token.profile not in profiles:
        message = (
            f"`{shown(name)}` has the profile `{shown(token.profile)}`, which there is not; nobody may enter with it."
        )
        fix = "Write that profile under gateway.profiles, or correct its name."
    if fix:
        findings.add(Finding("error", "bad_token", place, message, fix))
    return TokenSettings(hash=match[1] if match and not fix else "", profile=token.profile)


def _profiles(written: object, where: str, findings: Findings) -> dict[str, ProfileSettings]:
    """A profile that cannot be read lets nothing pass; nor does one that there is not."""
    if written is None:
        return {}
    if not isinstance(written, dict):
        message = "`profiles` should be an object; there is none, and nobody may enter under one."
        findings.add(Finding("error", "bad_policy", where, message, 'Write {"NAME": {"allow": ["mcp:…:*"]}}.'))
        return {}
    return {str(name): _profile(profile, f"{where}.{shown(str(name))}", findings) for name, profile in written.items()}


def _profile(written: object, where: str, findings: Findings) -> ProfileSettings:
    if not isinstance(written, dict):
        return _no_profile("a profile should be an object", where, findings)
    warn_of_unknown_keys(written, keys_of(ProfileSettings), where, findings)
    reading = read_section(ProfileSettings, written)
    if slip := _slip_in(reading.mended, unknown_keys(written, keys_of(ProfileSettings))):
        return _no_profile(slip, where, findings)
    return reading.section


def _no_profile(reason: str, where: str, findings: Findings) -> ProfileSettings:
    message = f"{reason}; under this profile no tool is reachable."
    findings.add(Finding("error", "bad_policy", where, message, "Write lists of ids or globs."))
    return ProfileSettings(allow=(), deny=("*",))


def _hooks(gateway: JsonObject, where: str, findings: Findings) -> HookSettings:
    """A hook that cannot be read is one that never answers: nothing is called until it is mended."""
    written, settings = gateway.get("hooks"), _section(HookSettings, "hooks", (gateway, where), findings)
    before = written.get("beforeCall") if isinstance(written, dict) else written
    if before is None or settings.before_call:
        return settings
    fix = "Write a list: the program and its arguments, or one module:function."
    message = "`beforeCall` cannot be read; no tool is called."
    findings.add(Finding("error", "bad_hook", f"{where}.hooks", message, fix))
    return settings.model_copy(update={"before_call": NO_HOOK})


def _section(model: type[SectionT], key: str, parent: tuple[JsonObject, str], findings: Findings) -> SectionT:
    gateway, where = parent[0], f"{parent[1]}.{key}"
    written = gateway.get(key)
    if written is None:
        return model()
    if not isinstance(written, dict):
        findings.warn("wrong_type", where, f"`{key}` should be an object.", "The defaults are used.")
        return model()
    not_yet = SECTION_NOT_YET.get(key, frozenset())
    warn_of_unknown_keys(written, keys_of(model), where, findings, not_yet)
    _note_not_yet(written, not_yet, where, findings)
    reading = read_section(model, written)
    warn_of_mended(reading.mended, where, findings)
    return reading.section


def _note_not_yet(written: JsonObject, keys: Iterable[str], where: str, findings: Findings) -> None:
    for key in sorted(keys):
        if key in written:
            findings.note("not_used_yet", where, f"`{key}` is not used by this version.", "It may stay.")
