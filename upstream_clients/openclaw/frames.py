"""The frames of OpenClaw's own protocol, version 4: what is sent, and what a frame that came means. Pure.

A Gateway speaks first (`connect.challenge`), is greeted with `connect`, and answers `hello-ok`. Then requests are answered
by their ids, in any order, and events come in between; those that nobody knows are passed over.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from upstream_clients.errors import UpstreamError, UpstreamProtocolFault, UpstreamUnauthorized
from upstream_clients.framing import JsonObject
from upstream_clients.openclaw.outcomes import RENEW_HINT
from upstream_clients.openclaw.target import OpenClawGateway

PROTOCOL: Final = 4
CLIENT_ID: Final = "gateway-client"
CLIENT_MODE: Final = "backend"
"""Both are of a closed list. These two are what its documentation has for a program on the Gateway's own machine."""

ROLE: Final = "operator"
PLATFORM: Final = sys.platform
READ_SCOPE: Final = "operator.read"
ADMIN_SCOPE: Final = "operator.admin"
"""For `attach.grant`, which gives the schemas. It is asked for on the Gateway's own machine only."""

CHALLENGE: Final = "connect.challenge"
UNAVAILABLE: Final = "UNAVAILABLE"

FIRST_WAIT_SECONDS: Final = 1.0
LONGEST_WAIT_SECONDS: Final = 30.0
"""Between greetings of a Gateway that is still starting, when it does not say, and when it says too much."""

QUOTED_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    payload: JsonObject


@dataclass(frozen=True, slots=True)
class Response:
    """`error` is None for a success."""

    id: str
    payload: JsonObject
    error: JsonObject | None


@dataclass(frozen=True, slots=True)
class Hello:
    """What a Gateway says of itself."""

    version: str
    methods: frozenset[str]
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Challenge:
    nonce: str
    timestamp: int


@dataclass(frozen=True, slots=True)
class Device:
    """Who we are, with the signature over one challenge."""

    id: str
    public_key: str
    signature: str = field(repr=False)


class Refused(Exception):
    """A request that the Gateway answered with an error. `waits` is how long it asks us to wait."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__()
        details = error.get("details")
        self.details: JsonObject = details if isinstance(details, dict) else {}
        self.code = _text(error.get("code"))
        self.reason = _text(self.details.get("code")) or _text(self.details.get("reason"))
        self.said = " ".join(_text(error.get("message")).split())[:QUOTED_CHARACTERS]
        wait = error.get("retryAfterMs", self.details.get("retryAfterMs"))
        self.waits = None if not isinstance(wait, (int, float)) or isinstance(wait, bool) else max(0.0, wait / 1000)

    def __str__(self) -> str:
        return f"{self.code} {self.said}"

    @property
    def is_starting(self) -> bool:
        return self.code == UNAVAILABLE

    @property
    def is_about_scopes(self) -> bool:
        return self.reason == "MISSING_SCOPE" or "scope" in self.said.lower()


def request(number: str, method: str, params: JsonObject) -> JsonObject:
    return {"type": "req", "id": number, "method": method, "params": params}


def greeting(
    gateway: OpenClawGateway, version: str, scopes: Sequence[str], device: Device | None, at: Challenge
) -> JsonObject:
    """The params of `connect`."""
    params: JsonObject = {
        "minProtocol": PROTOCOL,
        "maxProtocol": PROTOCOL,
        "client": {"id": CLIENT_ID, "version": version, "platform": PLATFORM, "mode": CLIENT_MODE},
        "role": ROLE,
        "scopes": list(scopes),
        "caps": [],
    }
    if gateway.secret:
        params["auth"] = {"password" if gateway.is_password else "token": gateway.secret}
    if device is not None:
        params["device"] = {
            "id": device.id,
            "publicKey": device.public_key,
            "signature": device.signature,
            "signedAt": at.timestamp,
            "nonce": at.nonce,
        }
    return params


def read(frame: JsonObject) -> Event | Response | None:
    """What came; None for what nobody knows."""
    kind, payload = frame.get("type"), _object(frame.get("payload"))
    if kind == "event":
        return Event(_text(frame.get("event")), payload)
    if kind == "res" and isinstance(frame.get("id"), str):
        is_good = frame.get("ok") is True
        return Response(_text(frame["id"]), payload, None if is_good else _object(frame.get("error")))
    return None


def challenge(event: Event) -> Challenge:
    at = event.payload.get("ts")
    return Challenge(_text(event.payload.get("nonce")), at if isinstance(at, int) else 0)


def hello(payload: JsonObject) -> Hello:
    """Raises UpstreamProtocolFault: the answer to our greeting is no hello."""
    if payload.get("type") != "hello-ok":
        raise UpstreamProtocolFault("it answers the greeting with something else than OpenClaw's hello")
    methods = _object(payload.get("features")).get("methods")
    scopes = _object(payload.get("auth")).get("scopes")
    return Hello(
        _text(_object(payload.get("server")).get("version"))[:64],
        frozenset(name for name in methods if isinstance(name, str)) if isinstance(methods, list) else frozenset(),
        frozenset(name for name in scopes if isinstance(name, str)) if isinstance(scopes, list) else frozenset(),
    )


def greeting_refused(refused: Refused) -> UpstreamError | None:
    """Why we may not come in; None if we may still call tools, and merely aren't told of them here."""
    if refused.reason.startswith(("AUTH_TOKEN", "AUTH_PASSWORD", "AUTH_UNAUTHORIZED", "AUTH_REQUIRED")):
        return UpstreamUnauthorized(f"OpenClaw does not accept the token ({refused.reason})", hint=RENEW_HINT)
    if refused.reason.startswith("AUTH_RATE") or refused.code == "RATE_LIMITED":
        return UpstreamUnauthorized("OpenClaw has locked us out after too many wrong tokens", hint=RENEW_HINT)
    return None


def why_not_told(refused: Refused) -> str:
    """What keeps a Gateway that refused the greeting from telling us its tools, and what to do; for the log."""
    if "PAIR" in f"{refused.code} {refused.reason}".upper() or "pairing" in refused.said.lower():
        return "this device is not paired: approve it with `openclaw devices list` and `openclaw devices approve`"
    if refused.reason == "DEVICE_AUTH_SIGNATURE_INVALID":
        return "it does not accept our signature: look whether both clocks are right"
    if refused.code == "PROTOCOL_MISMATCH" or refused.reason == "PROTOCOL_MISMATCH":
        return f"it does not speak version {PROTOCOL} of its protocol"
    return f"it refused the greeting ({refused})"


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
