"""The errors that are ours or the caller's. What an upstream did wrong is `upstream_clients.UpstreamError`."""


class GatewayError(Exception):
    """A request that the gateway itself refuses.

    `code` is stable and meant for programs; the message names the thing, and `hint` says what to do next.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()
