"""The only file that imports uvicorn: takes connections and speaks HTTP/1.1. It hears no signals."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn

from server.http.gate import Application

CONNECTIONS: Final = 512
"""At a time. Each takes a descriptor, of which a process has 1,024 as a rule, and upstreams take three each."""


class WebServer:
    """Serves an application on one listening socket."""

    def __init__(self, application: Application, listener: socket.socket) -> None:
        self._listener = listener
        self._server = _Server(
            uvicorn.Config(
                application,
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=CONNECTIONS,
            )
        )

    def __repr__(self) -> str:
        return f"<WebServer of {len(self._server.server_state.connections)} connections>"

    async def run(self) -> None:
        """Serves until `stop_accepting` was called and every connection is closed."""
        await self._server.serve([self._listener])

    def stop_accepting(self) -> None:
        """Takes no new connection, and closes each one after the answer that it waits for."""
        self._server.should_exit = True


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None: what a signal means is decided in `server.http.serving`."""
        yield
