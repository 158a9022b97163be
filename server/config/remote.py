"""What a remote entry needs to be connected to: its address and headers, checked, and what may not be printed of them.

Values that may be secret stay inside `Connection`, which does not print them; troubles name headers and keys only.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from server.config.child import inherited, passed, unusable_name, unusable_text
from server.config.entry_input import EntryInput
from server.config.findings import Findings, Trouble, shown
from server.config.launch import Site, fingerprint_of
from server.config.secrets import MIN_REDACTED, is_telling_name, redacted_values, secrets_inside
from server.config.settings import Remote, Transport

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_AROUND_A_VALUE = " \t\r\n"  # what a file that a value came from ends with
_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f]")

# The transport writes these itself; a second one would contradict it.
_OF_THE_TRANSPORT = frozenset(
    (
        "accept", "connection", "content-length", "content-type", "host", "last-event-id", "mcp-method", "mcp-name",
        "mcp-protocol-version", "mcp-session-id", "transfer-encoding", "upgrade",
    )
)  # fmt: skip

_THIS_MACHINE = frozenset(("localhost", "127.0.0.1", "::1"))
_TRANSPORTS: Mapping[str, Transport] = {"http": "http", "sse": "sse"}


@dataclass(frozen=True, slots=True)
class Connection:
    remote: Remote | None
    env: Mapping[str, str] = field(repr=False)  # of the helper; empty without one
    fingerprint: str
    secrets: frozenset[str] = field(repr=False)
    troubles: tuple[Trouble, ...]


def connection_of(entry: EntryInput, used: Mapping[str, str], site: Site, findings: Findings) -> Connection:
    """`used` are the variables whose values went into the entry."""
    headers = dict(_sent(entry.headers, site.where, findings))
    troubles = (*_wrong_kind(entry.kind), *wrong_url(entry.url), *_wrong_headers(headers), *_wrong_helper(entry, site))
    given = {**passed(site.environ, entry.pass_env), **entry.env} if entry.headers_helper else {}
    secrets = redacted_values({**headers, **given}, entry.headers_helper[1:], used) | _inside_url(entry.url)
    troubles += tuple(_wrong_environment(given))
    if troubles:
        return Connection(None, {}, "", secrets, troubles)
    env = {**inherited(site.environ), **given} if entry.headers_helper else {}
    _warn_of_plain_text(entry.url, headers, site.where, findings)
    transport = _TRANSPORTS.get(entry.kind, "auto")
    fingerprint = fingerprint_of([entry.url, transport, sorted(headers.items()), entry.headers_helper])
    remote = Remote(entry.url, transport, MappingProxyType(headers), entry.headers_helper)
    return Connection(remote, env, fingerprint, secrets, ())


def is_this_machine(url: str) -> bool:
    parts = _parts(url)
    return parts is not None and parts.hostname in _THIS_MACHINE


def _sent(written: Mapping[str, str], where: str, findings: Findings) -> Iterable[tuple[str, str]]:
    """The headers that are ours to send: each once, whatever its case, and none that says nothing."""
    spelt = {name.lower(): name for name in written}
    for name, value in written.items():
        if name.lower() in _OF_THE_TRANSPORT:
            message = f"The header `{shown(name)}` is written by the transport; this one is left out."
            findings.note("header_of_transport", where, message, "Remove it.")
        elif not value.strip(_AROUND_A_VALUE):
            message = f"The header `{shown(name)}` is empty and is not sent."
            findings.note("empty_header", where, message, "Set the variable that it comes from, or remove it.")
        elif spelt[name.lower()] == name:
            yield name, value.strip(_AROUND_A_VALUE)


def _wrong_kind(kind: str) -> Iterable[Trouble]:
    if kind == "ws":
        yield Trouble("no_websocket", "WebSocket upstreams are not supported.", "Use the server's HTTP address.")


def wrong_url(url: str) -> Iterable[Trouble]:
    if not url:
        yield Trouble("no_url", "The entry has no `url`.", "Add the address to connect to.")
        return
    parts = _parts(url)
    if parts is None or _NOT_IN_A_URL.search(url) or not (parts.hostname or parts.scheme in ("unix", "pipe")):
        yield Trouble("bad_url", "`url` is not an address.", "Write https://host/path.")
    elif parts.scheme not in ("http", "https"):
        message = "Only http:// and https:// addresses can be connected to."
        yield Trouble("bad_url", message, "Correct `url`, or start the server through a command.")


def _wrong_headers(headers: Mapping[str, str]) -> Iterable[Trouble]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            yield Trouble("bad_header", f"`{shown(name)}` cannot be the name of a header.", "Correct it.")
        elif not _HEADER_VALUE.fullmatch(value):
            message = f"The header `{shown(name)}` holds a character that no header may hold."
            yield Trouble("bad_header", message, "Look for a line break in what it comes from.")


def _wrong_helper(entry: EntryInput, site: Site) -> Iterable[Trouble]:
    if entry.headers_helper and not site.is_users_own:
        message = "`headersHelper` runs a program, and is not used from a file that a project may have brought."
        fix = "Move the entry to a file in your settings folder, such as ~/.config/toolfold/mcp.json."
        yield Trouble("helper_not_trusted", message, fix)


def _wrong_environment(given: Mapping[str, str]) -> Iterable[Trouble]:
    for name, value in given.items():
        if reason := unusable_name(name) or unusable_text(value):
            message = f"The variable `{shown(name)}` {reason}."
            yield Trouble("unusable_text", message, "No program can be started with it; correct it.")


def _warn_of_plain_text(url: str, headers: Mapping[str, str], where: str, findings: Findings) -> None:
    parts = _parts(url)
    telling = [name for name in headers if is_telling_name(name)]
    if telling and parts and parts.scheme == "http" and not is_this_machine(url):
        message = f"The header `{shown(telling[0])}` goes over the network in plain text."
        findings.warn("plain_http", f"{where}.url", message, "Use https://.")


def _inside_url(url: str) -> frozenset[str]:
    """A password, or a key in the query; and the two before the `@` as a server is told them."""
    parts = _parts(url)
    query = parse_qsl(parts.query) if parts else []
    found = {value for name, value in query if is_telling_name(name)} | secrets_inside(url)
    if parts and parts.password:
        user, password = unquote(parts.username or ""), unquote(parts.password)
        found |= {password, f"{user}:{password}"}
    return frozenset(value for value in found if len(value) >= MIN_REDACTED)


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts
