"""OpenTelemetry: one span for each message that a tool is called with, under the tool's real name. The one user of its API.

The API comes with the SDK of the protocol. As long as nobody has set up an SDK of OpenTelemetry in this process, nothing is
imported here and nothing is done. A span holds ids and outcomes; never arguments or results.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from upstream_clients import UpstreamError


def is_on() -> bool:
    """Whether there is anybody to report to. Who has set up an SDK has imported the API before."""
    if "opentelemetry.trace" not in sys.modules:
        return False
    from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


@contextmanager
def call_span(owner: str, name: str, meta: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The span of one call, and the `_meta` that carries it to the upstream.

    Its parent is the current span, else the one that the host's `_meta` names.
    """
    from opentelemetry.propagate import extract, inject
    from opentelemetry.trace import SpanKind, StatusCode, get_current_span, get_tracer

    around = None if get_current_span().get_span_context().is_valid else extract(_texts(meta))
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "toolfold.upstream": owner,
        "mcp.method.name": "tools/call",
    }
    tracer = get_tracer("toolfold")
    with tracer.start_as_current_span(
        f"execute_tool {name}",
        around,
        SpanKind.CLIENT,
        attributes,
        record_exception=False,  # its text may hold what the upstream was called with
        set_status_on_exception=False,
    ) as span:
        carried = _texts(meta)
        inject(carried)
        try:
            yield {**meta, **carried}
        except UpstreamError as error:
            span.set_attribute("error.type", error.code)
            span.set_status(StatusCode.ERROR)
            raise


def _texts(meta: Mapping[str, object]) -> dict[str, str]:
    return {key: value for key, value in meta.items() if isinstance(value, str)}
