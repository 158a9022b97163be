"""The end-to-end proof: an agent with a model provider and 500 tools, once with every tool up front and once for each mode.

A row of MODES says how a model gets to the tool in that mode and what must be counted then. Everything but the model
is real: the upstream and the gateway are processes, the provider is spoken to over HTTP on loopback. Mode code is proved
where code can be run.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from server.cli.sessions import read_records, summaries
from tests.support.engine import DATA, why_no_code
from tests.support.gateways import gateway
from tests.support.hosts import open_host
from tests.support.provider import Provider, Turn, provider, run_agent
from tests.support.upstreams import entry, received, write_config

TOOLS = 500
TARGET = "issue_invoice"
TARGET_ID = f"mcp:fake:{TARGET}"
PINNED = "fake_direct_only"
ARGUMENTS: dict[str, object] = {"customer": "Ada", "amount": 12}
DIRECT = "direct"
CODE = "code"


NEEDS_CODE = pytest.mark.skipif(bool(why_no_code()), reason=why_no_code() or "-")


@dataclass(frozen=True, slots=True)
class Mode:
    """How the model works, the names that it may see up front (None: all), the counts of the session log, and where in what
    the model is answered at the end the words of the tool are.
    """

    setting: object
    turns: Sequence[Turn]
    surface: frozenset[str] | None
    counts: Mapping[str, int]
    words: Callable[[str], object] = str


def searches(_text: str) -> tuple[str, dict[str, object]]:
    return "tool_search", {"query": "issue an invoice to a customer"}


def describes_the_first_hit(text: str) -> tuple[str, dict[str, object]]:
    return "tool_describe", {"id": json.loads(text)["tools"][0]["id"]}


def calls_what_was_described(text: str) -> tuple[str, dict[str, object]]:
    return "tool_call", {"id": json.loads(text)["id"], "args": ARGUMENTS}


def reads_the_directory(_text: str) -> tuple[str, dict[str, object]]:
    return "tool_search", {}


def calls_by_the_directory(text: str) -> tuple[str, dict[str, object]]:
    assert f"- {TARGET_ID}" in json.loads(text)["directory"]
    return "tool_call", {"id": TARGET_ID, "args": ARGUMENTS}


def writes_code(_text: str) -> tuple[str, dict[str, object]]:
    code = f"""
    const [hit] = await openclaw.tools.search("issue an invoice to a customer");
    const {{ tool }} = await openclaw.tools.describe(hit.id);
    return (await openclaw.tools.call(hit.id, {json.dumps(ARGUMENTS)})).result.content[0].text;
    """
    return "tool_search_code", {"code": code}


THREE = frozenset({"tool_search", "tool_describe", "tool_call"})
MODES: dict[str, Mode] = {
    DIRECT: Mode(False, [lambda _text: (TARGET, ARGUMENTS)], None, {"search": 0, "describe": 0, "call": 1, "code": 0}),
    "tools": Mode(
        {"mode": "tools"},
        [searches, describes_the_first_hit, calls_what_was_described],
        THREE | {PINNED},
        {"search": 1, "describe": 1, "call": 1, "code": 0},
    ),
    "directory": Mode(
        {"mode": "directory"},
        [reads_the_directory, calls_by_the_directory],
        THREE | {PINNED},
        {"search": 1, "describe": 0, "call": 1, "code": 0},
    ),
    CODE: Mode(
        {"mode": "code"},
        [writes_code],
        frozenset({"tool_search_code", PINNED}),
        {"search": 1, "describe": 1, "call": 1, "code": 1},
        lambda text: json.loads(text)["value"],
    ),
}


@dataclass(frozen=True, slots=True)
class Run:
    """What one run came to: what the model said last, what the provider was sent, what the upstream was, and the log."""

    said: str
    provider: Provider
    calls: list[object]
    session: dict[str, object]


def definitions() -> list[dict[str, object]]:
    """A large catalogue: names, sentences and schemas as servers have them."""
    verbs, things = (
        ("list", "create", "update", "archive", "export"),
        ("ticket", "report", "contact", "server", "photo"),
    )
    schema = {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": f"The {name} of it, as the service itself writes it down."}
            for name in ("workspace", "name", "owner", "status", "label")
        },
        "required": ["workspace"],
    }
    others: list[dict[str, object]] = [
        {
            "name": f"{verbs[n % 5]}_{things[n // 5 % 5]}_{n:03}",
            "description": f"{verbs[n % 5].title()}s one {things[n // 5 % 5]} of shelf {n}, and tells what became of it.",
            "inputSchema": schema,
        }
        for n in range(TOOLS - 2)
    ]
    amounts = {"customer": {"type": "string"}, "amount": {"type": "number"}}
    target: dict[str, object] = {
        "name": TARGET,
        "description": "Issues an invoice to a customer.",
        "inputSchema": {"type": "object", "properties": amounts, "required": list(amounts)},
    }
    plain = {"type": "object", "properties": {}}
    pinned: dict[str, object] = {"name": PINNED, "description": "Always there.", "inputSchema": plain}
    return [*others, target, pinned]


@pytest.fixture(scope="module")
async def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Every mode over the same upstream, whose list an earlier session has stored."""
    folder = tmp_path_factory.mktemp("proof")
    (folder / "tools.json").write_text(json.dumps(definitions()))
    log = folder / "messages"
    fake = entry(tools_file=str(folder / "tools.json"), does={TARGET: {"do": "echo"}}, log=str(log))
    servers = {"fake": {**fake, "trusted": True}}
    async with gateway(folder, servers):
        pass
    folders = {"TOOLFOLD_CACHE_DIR": str(folder / "toolfold-cache"), "TOOLFOLD_DATA_DIR": str(DATA)}
    done = {}
    for name, mode in MODES.items():
        if name == CODE and why_no_code():
            continue
        place = folder / name
        place.mkdir()
        config = write_config(place, servers, {"toolSearch": mode.setting, "directTools": [f"mcp:fake:{PINNED}"]})
        before = len(received(log))
        with provider(mode.turns) as served:
            async with open_host(config, added=folders) as host:
                said = await run_agent(host, served.port, "Bill Ada for 12.")
        [session] = summaries(read_records(place / "toolfold-state" / "sessions"))
        calls = [one["params"] for one in received(log)[before:] if one.get("method") == "tools/call"]
        done[name] = Run(said, served, calls, session)
    return done


PROVED = [name if name != CODE else pytest.param(CODE, marks=NEEDS_CODE) for name in MODES]
FOLDED = PROVED[1:]


@pytest.mark.parametrize("name", PROVED)
async def test_points_1_and_2_the_same_tool_is_called_in_every_mode(runs: dict[str, Run], name: str) -> None:
    [call] = runs[name].calls
    assert isinstance(call, dict)
    assert (call["name"], call["arguments"]) == (TARGET, ARGUMENTS)
    assert MODES[name].words(runs[name].said) == runs[DIRECT].said != ""


async def test_point_3_direct_mode_publishes_the_schemas(runs: dict[str, Run]) -> None:
    sent = json.loads(runs[DIRECT].provider.requests[0])["tools"]
    parameters = {tool["function"]["name"]: tool["function"]["parameters"] for tool in sent}
    assert {tool["name"]: tool["inputSchema"] for tool in definitions()}.items() <= parameters.items()


@pytest.mark.parametrize("name", FOLDED)
async def test_point_4_tool_search_publishes_the_surface_and_direct_only_tools(runs: dict[str, Run], name: str) -> None:
    assert frozenset(runs[name].provider.published()) == MODES[name].surface


@pytest.mark.parametrize("name", FOLDED)
async def test_point_5_the_requests_are_smaller(runs: dict[str, Run], name: str) -> None:
    direct, folded = ([len(body) for body in runs[one].provider.requests] for one in (DIRECT, name))
    print(f"{name}: first request {folded[0]:,} of {direct[0]:,} bytes, all {sum(folded):,} of {sum(direct):,}")
    assert folded[0] * 20 < direct[0]
    assert sum(folded) < sum(direct)


@pytest.mark.parametrize("name", PROVED)
async def test_point_6_the_log_has_the_counts_and_the_tool(runs: dict[str, Run], name: str) -> None:
    session, mode = runs[name].session, MODES[name]
    assert session["counts"] == mode.counts
    assert session["sources"] == {"mcp": 1}
    assert session["catalogue"] == {"tools": TOOLS, "sources": {"mcp": TOOLS}}
    assert isinstance(session["called"], list)
    [called] = session["called"]
    assert (called["id"], called["source"], called["calls"], called["failed"]) == (TARGET_ID, "mcp", 1, 0)
    up_front = session["up_front"]
    assert isinstance(up_front, dict)
    assert up_front["tools"] == len(runs[name].provider.published())
