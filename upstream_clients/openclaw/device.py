"""Our identity towards a Gateway on another machine: an Ed25519 key, and its signature over a challenge.

The only user of `cryptography`; imported when such a Gateway is greeted.
"""

import base64
import hashlib
from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from upstream_clients.openclaw.frames import CLIENT_ID, CLIENT_MODE, PLATFORM, ROLE, Challenge, Device


def signed(seed: bytes, token: str, scopes: Sequence[str], at: Challenge) -> Device:
    """The identity that `seed` makes, bound to this one greeting. `token` is what goes with it, "" for a password."""
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    identity = hashlib.sha256(public).hexdigest()
    whom = ("v3", identity, CLIENT_ID, CLIENT_MODE, ROLE, ",".join(scopes))
    text = "|".join((*whom, str(at.timestamp), token, at.nonce, PLATFORM.lower(), ""))
    return Device(identity, _plain(public), _plain(key.sign(text.encode())))


def _plain(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
