"""The older HTTP with SSE: one event stream for all that the server says, and an address it names for what we say.

Our own, over httpx2's event reader: the SDK's client has a fixed event limit of 1 MiB, sends one message at a time, and
stops sending for good after the first that fails.
"""

from urllib.parse import urljoin

import anyio
import anyio.to_thread
import httpx2
from anyio.abc import TaskGroup

from upstream_clients.errors import UpstreamGone, UpstreamProtocolFault
from upstream_clients.framing import JsonObject, NotAMessage, dump, parse
from upstream_clients.http.exchange import SENDING, Sending
from upstream_clients.http.faults import Fault, Then, redirected, wrong_content
from upstream_clients.http.link import Link
from upstream_clients.network import too_large
from upstream_clients.output import INLINE_PARSE_BYTES

EVENTS = "text/event-stream"


async def speak_sse(client: httpx2.AsyncClient, link: Link) -> None:
    """Until the link is to be left, or the stream ends."""
    headers = {"accept": EVENTS, "cache-control": "no-store"}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, client, headers, link, tasks)
        await link.left()
        tasks.cancel_scope.cancel()


async def _listen(client: httpx2.AsyncClient, headers: dict[str, str], link: Link, tasks: TaskGroup) -> None:
    try:
        async with client.stream("GET", link.endpoint.url, headers=headers) as response:
            if response.headers.get("content-type", "").partition(";")[0].strip().lower() != EVENTS:
                raise Fault(wrong_content(response.headers.get("content-type", "")).error, Then.SWITCH)
            await _read(response, client, link, tasks)
    except httpx2.SSEError:
        fault = Fault(too_large(link.endpoint.message_bytes), Then.END)
    except httpx2.HTTPError:
        fault = Fault(UpstreamGone("its event stream was cut"), Then.END)
    except NotAMessage as error:
        fault = Fault(UpstreamProtocolFault(f"it sent a message that is not acceptable: {error}"), Then.END)
    except Fault as error:
        fault = error
    else:
        fault = Fault(UpstreamGone("it closed its event stream"), Then.END)
    link.leave(fault)


async def _read(response: httpx2.Response, client: httpx2.AsyncClient, link: Link, tasks: TaskGroup) -> None:
    is_sending = False
    async for event in httpx2.EventSource(response, max_event_size=link.endpoint.message_bytes):
        if event.event == "message" and event.data:
            link.receive(await _parsed(event.data.encode()))
        elif event.event == "endpoint" and not is_sending:
            place = _address(link.endpoint.url, event.data)
            if place is None or not link.endpoint.is_same_origin(str(place)):
                raise Fault(redirected(place, again=False).error, Then.END)
            tasks.start_soon(_send, client, place, link)
            is_sending = True


async def _parsed(data: bytes) -> JsonObject:
    if len(data) <= INLINE_PARSE_BYTES:
        return parse(data)
    return await anyio.to_thread.run_sync(parse, data, abandon_on_cancel=True)


async def _send(client: httpx2.AsyncClient, place: httpx2.URL, link: Link) -> None:
    async with anyio.create_task_group() as posts:
        while True:
            posts.start_soon(_post, client, place, await link.next(is_answered_here=False))


async def _post(client: httpx2.AsyncClient, place: httpx2.URL, sending: Sending) -> None:
    SENDING.set(sending)
    await client.post(place, content=dump(sending.message), headers={"content-type": "application/json"})


def _address(url: str, place: str) -> httpx2.URL | None:
    try:
        return httpx2.URL(urljoin(url, place))
    except (ValueError, httpx2.InvalidURL):
        return None
