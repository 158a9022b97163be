"""`toolfold serve --http` from its options to an open door. Refuses one that would stand open to more than this machine.

A token is never an argument, because every user of a machine sees arguments: it is a hash in the configuration, the
content of a private file, or a variable of the environment.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.cli.configured import Configured
from server.cli.exits import ExitCode, Failure
from server.config import ConfigError
from server.config.files import read_text
from server.errors import GatewayError
from server.http.address import Address, address_of, listen, read_address
from server.http.serving import Door, serve_http
from server.http.tokens import SHORTEST_TOKEN, hash_of

TOKEN_VARIABLE: Final = "TOOLFOLD_TOKEN"  # noqa: S105  (its name)
TOKEN_FILE_BYTES: Final = 4096

HOW: Final = f"Set {TOKEN_VARIABLE}, give --token-file FILE, or write its SHA-256 under gateway.http.tokens."


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asked for. `token`: only with a token, on this machine too."""

    address: str
    token: bool
    token_file: Path | None
    allow_hosts: tuple[str, ...]
    profile: str


def run_http(found: Configured, wishes: Wishes) -> None:
    """Opens the door and serves. Ends the process.

    Raises:
        Failure: the address cannot be used, or the door needs a token and has none.
    """
    try:
        address = read_address(wishes.address)
    except ValueError as error:
        raise _failure("bad_address", f"--http {wishes.address[:80]!r}: {error}.", "") from None
    given = _given_tokens(found.environ, wishes.token_file)
    tokens = {name: hash_of(token) for name, token in given.items()}
    if not (tokens or found.settings.gateway.http.tokens):
        _check_open(address, wishes)
    try:
        listener = listen(address)
    except OSError as error:
        reason = error.strerror or "it is not an address of this machine"
        raise _failure("not_listening", f"Cannot listen on {address}: {reason}.", "Choose another port.") from None
    is_needed = wishes.token or not address.is_loopback
    secrets = frozenset(given.values())
    door = Door(listener, address_of(listener), tokens, wishes.allow_hosts, secrets, is_needed, wishes.profile)
    serve_http(found.settings, found.directories, found.reread, door)


def _check_open(address: Address, wishes: Wishes) -> None:
    """Whether the door may stand open to everyone who can reach it."""
    if wishes.token:
        raise _failure("no_token", "--token asks for a token, and none is known.", HOW)
    if not address.is_loopback:
        message = f"{address} can be reached from other machines, and no token is known."
        raise _failure("no_token", message, f"{HOW} Or listen on 127.0.0.1.")


def _given_tokens(environ: Mapping[str, str], file: Path | None) -> dict[str, str]:
    given: dict[str, str] = {}
    if TOKEN_VARIABLE in environ:
        given["environment"] = environ[TOKEN_VARIABLE].strip()
    if file is not None:
        try:
            given["file"] = read_text(file, TOKEN_FILE_BYTES).text.strip()
        except ConfigError as error:
            raise Failure(ExitCode.CONFIGURATION, error) from None
    for name, token in given.items():
        if len(token) < SHORTEST_TOKEN or not token.isascii() or any(character.isspace() for character in token):
            message = (
                f"The token of the {name} is no token: it needs {SHORTEST_TOKEN} characters or more, and no space."
            )
            raise _failure("bad_token", message, "Make one: openssl rand -hex 32")
    return given


def _failure(code: str, message: str, hint: str) -> Failure:
    return Failure(ExitCode.USAGE, GatewayError(code, message, hint))
