"""How a plain function becomes a tool of a demo server, and how such a server runs over stdio.

Knows the SDK's `MCPServer`; must never know what any tool does.
"""

import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

VERSION = "1.0.0"

# Four kinds are enough to say what a host may do without asking. None of the tools reaches the outside world.
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
SETTLES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
DESTROYS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)


class Refused(ToolError):
    """A tool will not or cannot do what was asked; the text tells the caller why and what to try."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function to publish: its docstring is the description, its annotated parameters are the schema.

    A function that returns `str` answers with text alone; every other one also publishes an output schema.
    """

    function: Callable[..., object]
    title: str
    annotations: ToolAnnotations


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """What a demo server tells about itself, and its tools."""

    name: str
    title: str
    instructions: str
    tools: Sequence[ToolSpec]


def build(spec: ServerSpec) -> MCPServer:
    # Before the SDK sets up its own: plain lines on stderr, and only when something went wrong.
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    server: MCPServer = MCPServer(
        spec.name, title=spec.title, instructions=spec.instructions, version=VERSION, log_level="WARNING"
    )
    for tool in spec.tools:
        text_only = tool.function.__annotations__.get("return") is str
        server.add_tool(
            tool.function,
            title=tool.title,
            description=inspect.getdoc(tool.function),
            annotations=tool.annotations,
            structured_output=False if text_only else None,
        )
    return server


def serve(spec: ServerSpec) -> None:
    """Serve until the host closes our standard input."""
    try:
        anyio.run(build(spec).run_stdio_async)
    except* (BrokenPipeError, ConnectionError):
        pass  # the host went away in the middle of an answer: there is nobody left to tell
