"""The two eras of the protocol, seen from a client: who greets how, and what every request must carry.

Handshake era (up to 2025-11-25): `initialize` once. Modern era (2026-07-28): each request carries an envelope in `_meta`,
and `server/discover` tells what the server can do. Facts: modelcontextprotocol.io specification of both dates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from upstream_clients.errors import UpstreamGone, UpstreamProtocolFault, UpstreamRefused, UpstreamTimeout
from upstream_clients.framing import JsonObject
from upstream_clients.peer import METHOD_NOT_FOUND, Patience, Peer

Era: TypeAlias = Literal["legacy", "modern"]
Protocol: TypeAlias = Literal["legacy", "auto", "modern"]

HANDSHAKE_VERSION: Final = "2025-11-25"
MODERN_VERSION: Final = "2026-07-28"
UNSUPPORTED_VERSION: Final = -32022

PROBE_SECONDS: Final = 5.0
"""How long `auto` waits for `server/discover`: some handshake servers stay silent before `initialize`."""

LISTED_PAGES: Final = 100
LISTED_TOOLS: Final = 10_000
"""Bounds of one listing: a server that pages for ever must not fill our memory. Real ones have some hundreds of tools."""

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server said of itself. Everything but the era and the version is its own text."""

    era: Era
    protocol_version: str
    server_info: JsonObject
    capabilities: JsonObject
    instructions: str


class Greeter:
    """Greets a server in the era that is asked for, and stamps later requests for that era."""

    def __init__(self, client_info: Mapping[str, object]) -> None:
        self._client_info = dict(client_info)

    async def greet(self, peer: Peer, protocol: Protocol, known: Era | None, seconds: float) -> Greeting:
        """`known` is the era in which this server was met before; it saves `auto` the probe.

        Raises:
            UpstreamError: the server did not answer, or shares no version with us.
        """
        if protocol == "legacy" or (protocol == "auto" and known == "legacy"):
            return await self._initialize(peer, seconds)
        if protocol == "modern":
            return await self._discover(peer, seconds)
        return await self._negotiate(peer, seconds)

    def stamp(self, era: Era, params: Mapping[str, object]) -> JsonObject:
        """The params as this era wants them on the wire."""
        if era == "legacy":
            return dict(params)
        meta = params.get("_meta")
        envelope: JsonObject = {
            **(meta if isinstance(meta, dict) else {}),
            VERSION_KEY: MODERN_VERSION,
            CLIENT_KEY: self._client_info,
            CAPABILITIES_KEY: {},
        }
        return {**params, "_meta": envelope}

    async def _negotiate(self, peer: Peer, seconds: float) -> Greeting:
        try:
            return await self._discover(peer, min(seconds, PROBE_SECONDS))
        except (UpstreamRefused, UpstreamTimeout, UpstreamProtocolFault):
            pass  # not evidence of a modern server: shake hands
        except UpstreamGone as gone:
            gone.hint = gone.hint or 'It may not bear the question for newer protocols: set "protocol": "legacy".'
            raise
        try:
            return await self._initialize(peer, seconds)
        except UpstreamRefused as refusal:
            # A slow modern server took the late probe first and is now closed to handshakes: greet it once more.
            if refusal.rpc_code != UNSUPPORTED_VERSION:
                raise
            return await self._discover(peer, seconds)

    async def _initialize(self, peer: Peer, seconds: float) -> Greeting:
        params = {"protocolVersion": HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": self._client_info}
        result = await peer.request("initialize", params, Patience(idle=seconds))
        peer.notify("notifications/initialized")
        version = result.get("protocolVersion")
        return Greeting(
            "legacy",
            version if isinstance(version, str) else HANDSHAKE_VERSION,
            _object(result.get("serverInfo")),
            _object(result.get("capabilities")),
            _text(result.get("instructions")),
        )

    async def _discover(self, peer: Peer, seconds: float) -> Greeting:
        result = await peer.request("server/discover", self.stamp("modern", {}), Patience(idle=seconds))
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or MODERN_VERSION not in versions:
            raise UpstreamProtocolFault(
                f"it does not offer protocol {MODERN_VERSION}", hint='Set "protocol": "legacy".'
            )
        return Greeting(
            "modern",
            MODERN_VERSION,
            _object(_object(result.get("_meta")).get(SERVER_KEY)),
            _object(result.get("capabilities")),
            _text(result.get("instructions")),
        )


async def list_tools(
    peer: Peer, greeter: Greeter, era: Era, page_seconds: float, meta: JsonObject | None = None
) -> tuple[JsonObject, ...]:
    """Every page of `tools/list`, raw, asked for with this `_meta`. A server without tools gives an empty tuple.

    Raises:
        UpstreamError: a page failed; a partial listing is never returned.
    """
    tools: list[JsonObject] = []
    cursor, seen = "", {""}
    last: list[JsonObject] = []
    for _ in range(LISTED_PAGES):
        params: JsonObject = {**({"cursor": cursor} if cursor else {}), **({"_meta": meta} if meta else {})}
        try:
            page = await peer.request("tools/list", greeter.stamp(era, params), Patience(page_seconds))
        except UpstreamRefused as refusal:
            if refusal.rpc_code == METHOD_NOT_FOUND and not cursor:
                return ()
            raise
        found = _page(page)
        if found and found == last:
            return tuple(tools)  # it knows no cursors, and gives the same page for each
        tools += found
        last, cursor = found, _text(page.get("nextCursor"))
        if cursor in seen or len(tools) > LISTED_TOOLS:
            return tuple(tools[:LISTED_TOOLS])
        seen.add(cursor)
    raise UpstreamProtocolFault(f"its tool list did not end within {LISTED_PAGES} pages")


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _page(page: JsonObject) -> list[JsonObject]:
    """The tools of one page. A malformed page must not pass for a short one: it would replace a good listing."""
    tools, cursor = page.get("tools"), page.get("nextCursor")
    if not isinstance(tools, list):
        raise UpstreamProtocolFault("its tools/list has no list of tools")
    if cursor is not None and not isinstance(cursor, str):
        raise UpstreamProtocolFault("its tools/list has a nextCursor that is no text")
    return [tool for tool in tools if isinstance(tool, dict)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
