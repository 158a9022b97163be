"""`gateway.openclaw` becomes one more upstream: an OpenClaw Gateway, under the name `openclaw`.

The address and the secret are expanded as an entry's are; what is wrong marks the upstream and nothing else. A secret
that is written out in the file is told of, and used.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import Field

from server.config.entry import Surroundings, marked, unresolved, wrong_values
from server.config.entry_input import Wait, warn_of_secret
from server.config.findings import Findings, Trouble, shown
from server.config.inputs import Input
from server.config.launch import fingerprint_of
from server.config.remote import is_this_machine, wrong_url
from server.config.secrets import MIN_REDACTED, is_written_out, redacted_values
from server.config.sections import JsonObject, keys_of, read_section, warn_of_mended, warn_of_unknown_keys
from server.config.settings import Names, OpenClaw, Section, ServerEntry
from server.config.spellings import secret_reference
from server.config.variables import Answer, Expansion, Variables, literal_part

OWNER: Final = "openclaw"
KEY: Final = "openclaw"

DEFAULT_URL: Final = "http://127.0.0.1:18789"
DEFAULT_TOKEN: Final = "${OPENCLAW_GATEWAY_TOKEN:-}"  # noqa: S105  (the variable that OpenClaw itself reads)

DESCRIPTION: Final = "Sessions, sub-agents, messages, memory and LLM steps of an OpenClaw Gateway."

# A wrong value under these has no default that would be safe: somebody else would be asked, or more would be shown.
_NO_DEFAULT = frozenset(
    (
        "url",
        "token",
        "password",
        "sessionKey",
        "agentId",
        "deny",
        "disabled",
        "visibility",
        "profile",
        "sanitizeHistory",
    )
)
_SECRET = re.compile(r"[\x20-\x7e]*")
_SCHEMES: Mapping[str, str] = {"ws": "http", "wss": "https"}


class OpenClawInput(Section):
    """The object as a file has it. The secrets may be written as `${NAME}`, or as OpenClaw writes such a reference."""

    url: str = DEFAULT_URL
    token: str = Field(default="", repr=False)
    password: str = Field(default="", repr=False)
    session_key: str = Field(default="main", min_length=1, max_length=512)
    agent_id: str = Field(default="", max_length=64)
    allow: Names = ()
    deny: Names = ()
    profile: Literal["minimal", "coding", "messaging", "full"] = "full"
    also_allow: Names = ()
    visibility: Literal["self", "tree", "agent", "all"] = "tree"
    sanitize_history: bool = True
    schemas: Literal["live", "bundled"] = "live"
    timeout: Wait = None
    disabled: bool = False


def read_openclaw(
    written: object, where: str, inputs: Mapping[str, Input], around: Surroundings, findings: Findings
) -> ServerEntry | None:
    """The upstream; None if none is written. `true` asks for the Gateway of this machine, as it is by default."""
    if written is None or written is False:
        return None
    blank = ServerEntry(
        KEY,
        OWNER,
        where=where,
        trusted=True,
        openclaw=OpenClaw(""),
        description=DESCRIPTION,
        hints=around.gateway.hints,
        gateway=False,
    )
    if not isinstance(written, dict | bool):
        trouble = Trouble("wrong_type", "`openclaw` should be an object.", 'Write {"token": "${NAME}"}, or true.')
        return marked(blank, [trouble], where, findings)
    written = written if isinstance(written, dict) else {}
    warn_of_unknown_keys(written, keys_of(OpenClawInput), where, findings)
    _warn_of_written_out_secrets(written, where, findings)
    expansion = Expansion(_variables(written, inputs, around))
    reading = read_section(OpenClawInput, _expanded(written, expansion))
    fatal = tuple(each for each in reading.mended if each.key in _NO_DEFAULT)
    warn_of_mended(tuple(each for each in reading.mended if each not in fatal), where, findings)
    section = reading.section
    gateway = _gateway(section)
    seconds = None if section.timeout is None else section.timeout / 1000
    secrets = redacted_values({"token": gateway.secret}, (), expansion.used) | expansion.secrets
    server = replace(
        blank,
        disabled=section.disabled,
        openclaw=gateway,
        timeout_seconds=seconds,
        total_timeout_seconds=seconds,  # a Gateway shows no progress: one wait is the whole
        fingerprint=fingerprint_of(_told_apart_by(gateway)),
        secrets=frozenset(secret for secret in secrets if len(secret) >= MIN_REDACTED),
    )
    troubles = [*wrong_values(fatal), *unresolved(expansion, inputs), *wrong_url(gateway.url), *_wrong_secrets(section)]
    if not troubles and not section.disabled:
        _warn_of_doubts(section, gateway, where, findings)
    return marked(server, troubles, where, findings)


def _expanded(written: JsonObject, expansion: Expansion) -> JsonObject:
    """With the secret that OpenClaw's own variable holds where the file names none."""
    given = {key: secret_reference(value) for key, value in written.items()}
    if not given.get("token") and not given.get("password"):
        given["token"] = DEFAULT_TOKEN
    return {key: expansion.value(value) for key, value in given.items()}


def _variables(written: JsonObject, inputs: Mapping[str, Input], around: Surroundings) -> Variables:
    may_ask = written.get("disabled") is not True

    def answer(key: str) -> Answer | None:
        wanted = inputs.get(key, Input(key))
        value = around.answers.find(wanted, may_ask=may_ask)
        return None if value is None else Answer(value, wanted.is_secret)

    return replace(around.variables, answer=answer)


def _gateway(section: OpenClawInput) -> OpenClaw:
    scheme, separator, rest = section.url.strip().rstrip("/").partition("://")
    return OpenClaw(
        url=f"{_SCHEMES.get(scheme.lower(), scheme)}{separator}{rest}",
        secret=(section.token or section.password).strip(),
        is_password=bool(section.password) and not section.token,
        session_key=section.session_key,
        agent_id=section.agent_id,
        allow=section.allow,
        deny=section.deny,
        profile=section.profile,
        also_allow=section.also_allow,
        visibility=section.visibility,
        sanitizes=section.sanitize_history,
        schemas=section.schemas,
    )


def _told_apart_by(gateway: OpenClaw) -> list[object]:
    """All that decides what is listed."""
    lists = (gateway.allow, gateway.also_allow)
    whom = (gateway.url, gateway.secret, gateway.session_key, gateway.agent_id)
    return [KEY, *whom, gateway.profile, gateway.schemas, *map(sorted, lists)]


def _wrong_secrets(section: OpenClawInput) -> Iterable[Trouble]:
    for key, value in (("token", section.token), ("password", section.password)):
        if not _SECRET.fullmatch(value.strip()):
            message = f"`{key}` holds a character that no header may hold."
            yield Trouble("bad_secret", message, "Look for a line break in what it comes from.")
    if section.token and section.password:
        yield Trouble("given_twice", "There is a `token` and a `password`.", "Keep the one that the Gateway asks for.")


def _warn_of_written_out_secrets(written: JsonObject, where: str, findings: Findings) -> None:
    for key in ("token", "password"):
        value = written.get(key)
        if isinstance(value, str) and is_written_out(key, literal_part(value)):
            warn_of_secret(key, where, findings)


def _warn_of_doubts(section: OpenClawInput, gateway: OpenClaw, where: str, findings: Findings) -> None:
    if not gateway.secret:
        fix = 'Set OPENCLAW_GATEWAY_TOKEN, or write "token": "${NAME}"; a Gateway that asks for none needs none.'
        findings.note("no_token", where, "The Gateway is asked without a token.", fix)
    if urlsplit(gateway.url).scheme == "http" and not is_this_machine(gateway.url) and gateway.secret:
        message = "The token goes over the network in plain text."
        findings.warn("plain_http", f"{where}.url", message, "Use https://, or a tunnel to this machine.")
    unopened = [name for name in section.also_allow if name in section.deny]
    for name in unopened:
        message = f"`{shown(name)}` is in `deny`, too, which wins."
        findings.warn("given_twice", f"{where}.alsoAllow", message, "Remove one of them.")
