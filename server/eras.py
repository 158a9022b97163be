"""The two eras of the protocol: by what a request shows which it is of, and how a host of each is greeted."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from server.identity import Identity
from upstream_clients import JsonObject

LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION: Final = "2026-07-28"
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"

Era: TypeAlias = Literal["legacy", "modern"]
"""The SDK's server is of the era of the first request that reaches it, for life, and refuses those of the other."""


def greeting(identity: Identity, version: str) -> JsonObject:
    """The answer to `initialize`."""
    return {
        "protocolVersion": version if version in LEGACY_VERSIONS else LEGACY_VERSIONS[-1],
        "capabilities": identity.capabilities,
        "serverInfo": identity.server_info,
        "instructions": identity.instructions,
    }


def discovery(identity: Identity) -> JsonObject:
    """The answer to `server/discover`."""
    known: JsonObject = {
        "supportedVersions": [MODERN_VERSION],
        "capabilities": identity.capabilities,
        "instructions": identity.instructions,
    }
    return modern_result(known, identity.server_info)


def modern_result(result: Mapping[str, object], server_info: JsonObject) -> JsonObject:
    """A list result in the envelope of 2026-07-28."""
    return {
        "ttlMs": 0,
        "cacheScope": "private",
        **result,
        "resultType": "complete",
        "_meta": {SERVER_KEY: server_info},
    }


def era_of(params: JsonObject) -> Era | None:
    """The era of a request. None for a half-built envelope, which is the SDK's to judge."""
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        return None
    if VERSION_KEY not in meta:
        return "legacy"
    client = meta.get(CLIENT_KEY)
    is_complete = isinstance(meta.get(CAPABILITIES_KEY), dict) and (client is None or is_implementation(client))
    return "modern" if is_complete and meta[VERSION_KEY] == MODERN_VERSION else None


def opened_era(method: str, params: object) -> Era:
    """The era in which the SDK's server is opened by this request."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    return "modern" if method != "initialize" and isinstance(meta, dict) and VERSION_KEY in meta else "legacy"


def is_implementation(value: object) -> bool:
    """Whether this is how a host says what it is."""
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("version"), str)
