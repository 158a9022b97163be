"""Attempts of a model's code to get out of the engine, or to wear the gateway down from inside it.

Each is watched from outside: listeners, files, a process, signals. Code that gets hold of anything uses it at once
(`USE`), so that a hole would be seen there and not only in what the code says of itself.
"""

from dataclasses import dataclass, field

import anyio
import pytest

from server.code import CodeRunner, Outcome, Runtime
from server.code.run import Method
from server.errors import GatewayError
from tests.support.outside import Outside

CLOCK_SECONDS = 1.0
"""For those that must be stopped by the clock."""

PATIENT_SECONDS = 20.0
"""For the others, which end by themselves: most within milliseconds, on a busy machine too."""

USE = """
const used = [];
function use(thing) {
  try {
    const make = typeof thing === "function" ? thing : thing?.constructor?.constructor ?? thing?.constructor;
    const world = make("return globalThis")();
    used.push(typeof world.process + "," + typeof world.require + "," + typeof world.fetch);
    const reach = world.process?.getBuiltinModule ?? world.process?.mainModule?.require ?? world.require;
    const fs = reach("fs");
    fs.writeFileSync(WRITTEN, "x");
    reach("net").connect(TCP, "127.0.0.1");
  } catch {}
}
const outside = () => [...new Set(used)].every((seen) => seen === "undefined,undefined,undefined");
"""


@dataclass(frozen=True, slots=True)
class Probe:
    """The code, and what must come of it: a value, or the code of a failure."""

    name: str
    code: str
    value: object = True
    failure: str = ""
    asked: tuple[object, ...] = field(default=())


def probe(name: str, code: str, value: object = True, *, failure: str = "", asked: tuple[object, ...] = ()) -> Probe:
    return Probe(name, code, value, failure, asked)


NAMES = """["process","require","module","exports","global","Buffer","__dirname","fetch","WebSocket","XMLHttpRequest",
"EventSource","DOMException","setTimeout","setInterval","setImmediate","queueMicrotask","structuredClone","Worker","WebAssembly","Deno",
"Bun","std","os","scriptArgs","print","load","navigator","post","record","finish","settle","start","waiting"]"""

PROBES = [
    # Ways to a function constructor of the surroundings
    probe("the constructor of console.log", "use(console.log.constructor); return outside()"),
    probe("the constructor of the bridge", "use(openclaw.tools.call.constructor); return outside()"),
    probe("the constructor of a bridge's promise", "use(tools.search('x').constructor.constructor); return outside()"),
    probe("an answer of the bridge", "use((await tools.search('x')).constructor.constructor); return outside()"),
    probe("an error of the bridge", "try { await tools.describe('bad') } catch (e) { use(e) } return outside()"),
    probe("an error of the bridge's own", "try { await tools.call(5) } catch (e) { use(e) } return outside()"),
    probe("a refused import", "try { await import('node:fs') } catch (e) { use(e) } return outside()"),
    probe("every built-in module", """const got = [];
        for (const name of ["fs", "node:net", "std", "os", "qjs:std", "qjs:os", "bjson", "./child.js", "/etc/passwd"])
          try { use(await import(name)); got.push(name) } catch (e) { use(e) }
        return got.length === 0 && outside()"""),
    probe("a stack overflow", "function f() { f() } try { f() } catch (e) { use(e) } return outside()"),
    probe("running out of memory", """const a = [];
        try { for (;;) a.push(new Array(1e4).fill(1)) } catch (e) { a.length = 0; use(e) } return outside()"""),
    probe("generators", "use((function*(){}).constructor); use((async function*(){}).constructor); return outside()"),
    probe("eval", "use(eval); use((0, eval)('globalThis').Function); return outside()"),
    probe("callers", """const seen = [];
        (function f() { try { seen.push(typeof f.caller) } catch (e) { use(e) }
                        try { seen.push(typeof arguments.callee.caller) } catch (e) { use(e) } })();
        return outside() && !seen.includes("function")"""),
    probe("promise hooks", """const then = Promise.prototype.then; let caught = 0;
        Promise.prototype.then = function (...given) {
          given.forEach((g) => { caught++; use(g) }); return then.apply(this, given) };
        await tools.search("x"); Promise.prototype.then = then; return outside()"""),
    probe("a thenable as the result", "return { then(good) { use(good.constructor); good(outside()) } }"),
    probe("prepareStackTrace", """let seen = true;
        Error.prepareStackTrace = (e, calls) => { use(calls); for (const c of calls ?? []) use(c.getThis?.()); return "s" };
        void new Error("x").stack; return outside() && seen"""),
    probe("species and subclasses", """class P extends Promise { static get [Symbol.species]() { return P } }
        use(P.resolve(tools.search("x")).constructor); await P.all([tools.search("x")]); return outside()"""),
    probe("getters on what is passed", """const given = { get a() { use(this); use(new Error().constructor); return 1 } };
        await tools.call("x", given); return outside()"""),
    # What is there at all
    probe("names of Node, browsers and other engines", f"return {NAMES}.filter((name) => name in globalThis)", []),
    probe("what was added to the engine", """const plain = new Set(["console", "openclaw", "tools"]);
        return Object.keys(globalThis).filter((name) => !plain.has(name))""", []),
    probe("places in a stack", "return /[/\\\\]|node:|evalmachine/.test(new Error('x').stack)", value=False),
    probe("shared memory", "return typeof SharedArrayBuffer === 'undefined' || (() => { try { "
          "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); return false } catch { return true } })()"),
    # The bridge
    probe("a frozen interface", """const call = openclaw.tools.call;
        for (const act of [() => { openclaw.tools.call = 1 }, () => { delete openclaw.tools.call }, () => { openclaw.x = 1 },
          () => Object.defineProperty(tools, "call", { value: 1 }), () => { globalThis.openclaw = 1 },
          () => Object.setPrototypeOf(tools, {}), () => { console.log = 1 }]) try { act() } catch {}
        return openclaw.tools.call === call && tools === openclaw.tools && openclaw.x === undefined"""),
    probe("built-ins replaced", """JSON.stringify = () => '["forged",{}]'; JSON.parse = () => ({ forged: 1 });
        Reflect.apply = Object.create = Object.freeze = () => {}; globalThis.Promise = globalThis.Error = String = null;
        Array.prototype[Symbol.iterator] = function* () { yield "forged" };
        return await tools.search("real")""", ["search", ["real", {}]], asked=(("search", ["real", {}]),)),
    probe("prototypes polluted", """Object.prototype.code = "forged"; Object.prototype.toJSON = undefined;
        Object.prototype[1] = { resolve() {}, reject() {} }; Array.prototype.toJSON = undefined;
        return await tools.search("real")""", ["search", ["real", {}]], asked=(("search", ["real", {}]),)),
    probe("an id that is no text", """
        const tried = [{ toString: () => "mcp:x" }, ["mcp:x"], new String("mcp:x"), Symbol("x"), 5, null];
        let refused = 0; for (const id of tried) try { await tools.call(id) } catch (e) { refused += e instanceof TypeError }
        return refused === tried.length"""),
    probe("a method that there is not", "return Object.keys(tools).sort()", ["call", "describe", "search"]),
    probe("braces", "}); globalThis.mine = 1; (async () => { ", None),
    probe("a closed comment", "return 1 /* */ } /* ", failure="invalid_input"),
    probe("odd text", "return (await tools.search('a\\u0000b\\ud800c'))[1][0]", "a\x00b?c",
          asked=(("search", ["a\x00b?c", {}]),)),
    probe("a number that is none", "return [NaN, Infinity, -Infinity]", [None, None, None]),
    probe("a value with itself in it", "const a = {}; a.a = a; return a", failure="code_error"),
    probe("a value deeper than any", "let a = 1; for (let i = 0; i < 1000; i++) a = [a]; return a", failure="output_limit"),
    probe("a value that breaks the engine's stack", "let a = 1; for (let i = 0; i < 3e4; i++) a = [a]; return a",
          failure="child_exit"),
    probe("an error that can't be shown",
          "throw new Proxy(new Error('x'), { get() { throw 1 }, getPrototypeOf() { throw 1 } })", failure="code_error"),
    # Time and memory
    probe("a loop", "for (;;) {}", failure="timeout"),
    probe("a loop of promises", "for (;;) await null", failure="timeout"),
    probe("a loop after the return", "tools.search('x').then(() => { for (;;) {} }); return 1", failure="timeout"),
    probe("a loop that nobody waits for", "(async () => { await null; for (;;) {} })(); return 1", failure="timeout"),
    probe("a promise that nobody settles", "await new Promise(() => {})", failure="code_error"),
    probe("a call that is never answered", "await tools.call('never')", failure="timeout", asked=(("call", ["never", {}]),)),
    probe("a bad regular expression", "return /(a+)+$/.test('a'.repeat(40) + 'b')", failure="timeout"),
    probe("a bomb of arrays", "const a = []; for (;;) a.push(new Array(1e4).fill(1))", failure="code_error"),
    probe("a bomb of buffers", "const a = []; for (;;) a.push(new Uint8Array(1e6))", failure="code_error"),
    probe("a bomb of text", "let s = 'x'; for (;;) s += s", failure="code_error"),
    probe("three gigabytes at once", "return new ArrayBuffer(3e9).byteLength", failure="code_error"),
    probe("recursion", "function f() { return f() + 1 } return f()", failure="code_error"),
    probe("a result of a megabyte", "return 'x'.repeat(1 << 20)", failure="output_limit"),
    probe("a text too long for an error", "throw new Error('x'.repeat(1 << 20))", failure="code_error"),
    probe("a flood of calls", """let refused = 0;
        await Promise.all(Array.from({ length: 500 }, () => tools.search("x").catch(() => refused++)));
        return refused""", 436),
    probe("arguments of a megabyte",
          "try { await tools.call('x', { a: 'x'.repeat(1 << 20) }) } catch (e) { return e.message }",
          "the arguments are too large"),
    probe("arguments deeper than any message", """const told = [];
        for (const depth of [180, 189, 190, 1000]) {
          let a = "[{\\"]"; for (let i = 0; i < depth; i++) a = i % 2 ? [a] : { a };
          try { told.push((await tools.call("x", a))[0]) } catch (e) { told.push(e.message.slice(0, 38)) }
        } return told""", ["call", "call", *["the arguments are nested too deep"] * 2]),
    probe("a query's options deeper than any message", """let x = {}; for (let i = 0; i < 1000; i++) x = { x };
        try { await tools.search("x", x) } catch (e) { return e.message }""", "the arguments are nested too deep"),
]  # fmt: skip


@pytest.fixture
def asked() -> list[tuple[Method, list[object]]]:
    return []


async def run(probe: Probe, runtime: Runtime, world: Outside, asked: list[tuple[Method, list[object]]]) -> Outcome:
    async def ask(method: Method, values: list[object]) -> object:
        asked.append((method, values))
        if values[0] == "bad":
            raise GatewayError("unknown_tool", "There is none.", "Search.")
        if values[0] == "never":
            await anyio.sleep_forever()
        return [method, values]

    aims = f"const WRITTEN = {str(world.written)!r}, TCP = {world.tcp.getsockname()[1]};"
    code = f"{aims}{USE}{probe.code}" if "use(" in probe.code else probe.code
    seconds = CLOCK_SECONDS if probe.failure == "timeout" else PATIENT_SECONDS
    return await CodeRunner(runtime).run(code, ask, seconds)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
async def test_code_stays_inside(
    probe: Probe, runtime: Runtime, world: Outside, asked: list[tuple[Method, list[object]]]
) -> None:
    outcome = await run(probe, runtime, world, asked)
    assert world.touched(repr(outcome)) == []
    if probe.failure:
        assert outcome.failure is not None, outcome
        assert outcome.failure.code == probe.failure, outcome.failure
    else:
        assert outcome.failure is None, outcome.failure
        assert outcome.value == probe.value
    if probe.asked:
        assert asked == list(probe.asked)


async def test_a_flood_of_logs_is_cut(runtime: Runtime, world: Outside) -> None:
    flood = probe("logs", "for (let i = 0; i < 1e5; i++) console.error('x'.repeat(100), i); return 1", 1)
    outcome = await run(flood, runtime, world, [])
    assert (outcome.value, outcome.failure) == (1, None)
    assert sum(len(line) for line in outcome.logs) < 80 * 1024
    assert outcome.logs[-1] == "(the logs end here: no more are kept)"


@pytest.mark.parametrize(("character", "kept"), [("\u4e2d", 21845), ("\U0001f642", 16384), ("\u00e9", 32768)])
async def test_a_line_that_is_cut_ends_with_a_whole_character(
    runtime: Runtime, world: Outside, character: str, kept: int
) -> None:
    outcome = await run(probe("a line", f"console.log('{character}'.repeat(70000)); return 1", 1), runtime, world, [])
    assert (outcome.value, outcome.failure) == (1, None)
    assert outcome.logs == (character * kept, "(the logs end here: no more are kept)")


async def test_an_error_that_is_cut_within_a_character_can_be_told(runtime: Runtime, world: Outside) -> None:
    thrown = probe("an error", "throw new Error('\U0001f642'.repeat(5000))")
    outcome = await run(thrown, runtime, world, [])
    assert outcome.failure is not None
    assert outcome.failure.message == f"Error: {chr(0x1F642) * 1996}?"


async def test_what_gets_out_would_be_seen(world: Outside) -> None:
    """The control: this is what `use` does with a hole."""
    world.written.write_text("x", encoding="utf-8")
    assert world.touched() == ["files"]
