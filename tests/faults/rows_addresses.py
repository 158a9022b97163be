"""An upstream at an address answers its calls badly, or never."""

import time
from collections import Counter
from collections.abc import Mapping
from typing import Final

import anyio

from tests.faults.matrix import Figures, Place, Row, Run, takes
from tests.faults.stage import Stage, beside, staged
from tests.support.http_stub import (
    Answer,
    Reply,
    Request,
    closed,
    echo,
    events,
    http_stub,
    reset,
    silence,
    status,
    tool,
)

DEADLINE_SECONDS: Final = 2.0
"""What a call may go without an answer."""

ASKED_SECONDS: Final = 1.0
"""What a server asks us to wait."""


async def silent_stream(request: Request, reply: Reply) -> None:
    """A stream that begins well and says nothing more."""
    await events(b": hello\n\n")(request, reply)
    await silence(request, reply)


async def circle(request: Request, reply: Reply) -> None:
    await status(307, location=request.path)(request, reply)


WAIT: Final = f"{ASKED_SECONDS:.0f}"

AT_ONCE: Final[Mapping[str, tuple[Answer, str]]] = {
    "reset": (reset, "upstream_gone"),
    "hung_up": (closed, "upstream_gone"),
    "empty_stream": (events(), "upstream_gone"),
    "cut_stream": (events(b": hello\n\n", None), "upstream_gone"),
    "cut_event": (events(b'event: message\ndata: {"jsonrpc"', None), "upstream_gone"),
    "error_500": (status(500), "upstream_error"),
    "error_502": (status(502), "upstream_error"),
    "error_503": (status(503), "upstream_error"),
    "busy": (status(429), "upstream_error"),
    "busy_for_long": (status(429, retry_after="3600"), "upstream_error"),
    "circle": (circle, "upstream_error"),
    "elsewhere": (status(307, location="http://127.0.0.2:9/mcp"), "upstream_error"),
}
"""How the tool of this name is answered, and the code of the failure."""

NEVER: Final[Mapping[str, Answer]] = {"silence": silence, "silent_stream": silent_stream}
ONCE: Final[Mapping[str, Answer]] = {
    "busy_for_a_while": status(429, retry_after=WAIT),
    "down_for_a_while": status(503, retry_after=WAIT),
}
"""How it is answered the first time; then it is answered well."""

SENT: Final = {"circle": 4, "busy_for_a_while": 2, "down_for_a_while": 2}
"""How often the request reaches the server, if not once: what was refused unseen may be sent again."""


async def bad_answers(place: Place) -> Figures:
    """All the faults at one server, while somebody calls another upstream."""
    sent: Counter[str] = Counter()

    async def answer(request: Request, reply: Reply) -> None:
        sent[request.name] += 1
        faulty = {**{name: bad for name, (bad, _) in AT_ONCE.items()}, **NEVER}
        if request.name in ONCE and sent[request.name] == 1:
            faulty[request.name] = ONCE[request.name]
        await faulty.get(request.name, echo)(request, reply)

    async with http_stub({"tools/call": answer}) as stub:
        stub.tools = [tool(name) for name in ("echo", *AT_ONCE, *NEVER, *ONCE)]
        limits = {"limits": {"callIdleMs": round(DEADLINE_SECONDS * 1000)}}
        async with (
            staged(place, {"bad": {"url": stub.url}}, limits, warm=("mcp:bad:echo",)) as stage,
            beside(stage) as neighbour,
        ):
            failures = {name: await failed(stage, name) for name in AT_ONCE}
            waits = await together(stage)
            assert await stage.text("mcp:bad:echo") == "echo"
            await neighbour.calls()
    assert {name: code for name, (code, _) in failures.items()} == {name: code for name, (_, code) in AT_ONCE.items()}
    del sent["echo"]
    assert sent == {**dict.fromkeys((*AT_ONCE, *NEVER, *ONCE), 1), **SENT}
    return {
        "failure after": max(seconds for _, seconds in failures.values()),
        "deadline missed by": max(waits[name] for name in NEVER) - DEADLINE_SECONDS,
        "Retry-After missed by": max(waits[name] for name in ONCE) - ASKED_SECONDS,
    }


async def failed(stage: Stage, name: str) -> tuple[str, float]:
    """The code and the seconds. Between two failures there is a success: after five the upstream would be left alone."""
    code, seconds = await stage.failure(f"mcp:bad:{name}")
    assert await stage.text("mcp:bad:echo") == "echo"
    return code, seconds


async def together(stage: Stage) -> Mapping[str, float]:
    """The seconds that those calls take which have to wait. None may be over sooner."""
    took: dict[str, float] = {}

    async def fails(name: str) -> None:
        code, took[name] = await stage.failure(f"mcp:bad:{name}")
        assert code == "upstream_timeout"
        assert took[name] >= DEADLINE_SECONDS

    async def succeeds(name: str) -> None:
        began = time.monotonic()
        assert await stage.text(f"mcp:bad:{name}") == name
        took[name] = time.monotonic() - began
        assert took[name] >= ASKED_SECONDS

    async with anyio.create_task_group() as tasks:
        for name in NEVER:
            tasks.start_soon(fails, name)
        for name in ONCE:
            tasks.start_soon(succeeds, name)
    return took


ROWS: Final = (
    Row(
        30,
        "HTTP upstream fails",
        "RST, 429 with Retry-After, 5xx, a stream that is cut or silent, redirects in a circle; a loopback stub",
        "nothing hangs; Retry-After is heeded within the deadline",
        "deadline held",
        (
            Run(
                bad_answers,
                (takes("failure after", 0.5), takes("deadline missed by", 0.2), takes("Retry-After missed by", 0.2)),
            ),
        ),
        "Sixteen faults, each with the code that it must come to and how often it may reach the server.",
    ),
)
