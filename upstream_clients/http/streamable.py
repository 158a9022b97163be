"""Streamable HTTP in both eras, over the SDK's transport: one POST for each message, answers on it or on its event stream.

The SDK's transport resumes cut streams, keeps the session's id and holds the stream for the server's own messages.
"""

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from upstream_clients.errors import UpstreamGone
from upstream_clients.http.exchange import SENDING
from upstream_clients.http.faults import Fault, Then
from upstream_clients.http.link import Link
from upstream_clients.http.messages import Envelopes


async def speak_streamable(client: httpx2.AsyncClient, link: Link) -> None:
    """Until the link is to be left. Ends the session if the server is there to hear of it."""
    envelopes = Envelopes(link.endpoint.message_bytes)
    async with (
        streamable_http_client(
            link.endpoint.url, http_client=client, max_sse_event_size=link.endpoint.message_bytes
        ) as (read, write),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_send, write, envelopes, link)
        tasks.start_soon(_receive, read, envelopes, link)
        await link.left()
        tasks.cancel_scope.cancel()


async def _send(write: WriteStream[SessionMessage], envelopes: Envelopes, link: Link) -> None:
    while True:
        sending = await link.next(is_answered_here=True)
        SENDING.set(sending)  # of this task, and of what the transport starts for this message
        try:
            await write.send(envelopes.wrap(sending.message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the other direction says so


async def _receive(read: ReadStream[SessionMessage | Exception], envelopes: Envelopes, link: Link) -> None:
    async for item in read:
        if isinstance(item, Exception):
            continue  # a message of the server's own that is none
        message = await envelopes.unwrap(item)
        if isinstance(message, tuple):
            link.fail(*message)
        else:
            link.receive(message)
    link.leave(Fault(UpstreamGone("its connection ended"), Then.END))
