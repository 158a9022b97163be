"""A child that has been taken over says whatever it likes. The gateway ends it, says so, and goes on."""

import os
from pathlib import Path

import anyio
import pytest

from server.code import CodeRunner, Outcome, Runtime
from server.code.run import Method
from tests.support.processes import descendants

SECONDS = 1.0

ENDED = [
    ("nothing", "process.exit(0)"),
    ("a failure of its own", "process.exit(3)"),
    ("a signal to itself", "process.abort()"),
    ("garbage", "raw(Buffer.from('garbage'.repeat(1000))); hang()"),
    ("a length without end", "raw(Buffer.from([255, 255, 255, 255])); hang()"),
    ("a length over the limit", "raw(Buffer.from([0, 16, 0, 1])); hang()"),
    ("half a frame", "raw(Buffer.from([0, 0, 1, 0, 123])); process.exit(0)"),
    ("half a length", "raw(Buffer.from([0, 0])); process.exit(0)"),
    ("an empty frame", "raw(Buffer.from([0, 0, 0, 0])); hang()"),
    ("no JSON", "body('{'); hang()"),
    ("no object", "body('[1]'); hang()"),
    ("no UTF-8", "raw(Buffer.from([0, 0, 0, 4, 0x7b, 0xff, 0xfe, 0x7d])); hang()"),
    ("no number", 'body(\'{"type":"call","id":NaN,"method":"search","values":"[]"}\'); hang()'),
    ("depth", "body('{\"type\":' + '['.repeat(5000) + ']'.repeat(5000) + '}'); hang()"),
    ("an unknown kind", "send({ type: 'eval', text: '1' }); hang()"),
    ("no kind", "send({}); hang()"),
    ("ready again", "send({ type: 'ready', attempts: {} }); hang()"),
    ("an id out of turn", "call(2); hang()"),
    ("an id twice", "call(1); call(1); hang()"),
    ("an id that is a truth value", "call(true); hang()"),
    ("an id that is text", "call('1'); hang()"),
    ("an unknown method", "call(1, 'eval'); hang()"),
    ("a method that is a list", "call(1, ['search']); hang()"),
    ("values that are no JSON", "call(1, 'search', '['); hang()"),
    ("values that are no list", "call(1, 'search', '{}'); hang()"),
    ("values that are deep", "call(1, 'search', '['.repeat(5000) + ']'.repeat(5000)); hang()"),
    ("values that are large", "call(1, 'search', JSON.stringify(['x'.repeat(900000)])); hang()"),
    ("too many calls at once", "for (let i = 1; i < 40; i++) call(i, 'call', '[\"never\",{}]'); hang()"),
    ("too many calls", "for (let i = 1; i < 100; i++) { call(i); read() } hang()"),
    ("too many lines", "for (let i = 0; i < 5000; i++) send({ type: 'log', level: 'log', text: '' }); hang()"),
    ("too long lines", "send({ type: 'log', level: 'log', text: 'x'.repeat(100000) }); hang()"),
    ("a line that is no text", "send({ type: 'log', level: 'log', text: 5 }); hang()"),
    ("a flood", "const x = Buffer.alloc(1 << 20); for (;;) raw(x)"),
    ("an unknown outcome", "done('eaten', ''); hang()"),
    ("an outcome that is no text", "done('returned', 5); hang()"),
    ("a closed output", "fs.closeSync(1); hang()"),
    ("a heap that is full", "const a = []; for (;;) a.push(new Array(1e5).fill({}).map((_, i) => ({ i })))"),
]

OTHERWISE = [
    ("a value over the limit", "done('returned', JSON.stringify('x'.repeat(300000))); hang()", "output_limit"),
    ("a value that is no JSON", "done('returned', '{'); hang()", "output_limit"),
    ("a value that is no number", "done('returned', '[NaN]'); hang()", "output_limit"),
    ("a value that closes the brackets", "done('returned', '1}, {\"value\": 2'); hang()", "output_limit"),
    ("silence", "hang()", "timeout"),
    ("silence that ignores signals", "process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); hang()", "timeout"),
    ("a busy loop", "for (;;);", "timeout"),
    ("answers that it never reads", "for (let i = 1; i < 10; i++) call(i, 'call', '[\"large\",{}]'); hang()", "timeout"),
    ("a flood of errors", "const x = Buffer.alloc(1 << 16); for (;;) fs.writeSync(2, x)", "timeout"),
    ("drops", "setInterval(() => raw(Buffer.from([0])), 300)", "timeout"),
]  # fmt: skip


async def ask(method: Method, values: list[object]) -> object:
    if values[:1] == ["never"]:
        await anyio.sleep_forever()
    return "x" * 1_000_000 if values[:1] == ["large"] else method


async def run(runtime: Runtime, code: str, seconds: float = SECONDS) -> Outcome:
    hostile = Runtime(runtime.node, runtime.engine, Path(__file__).with_name("hostile.js"))
    before = descendants(os.getpid())
    outcome = await CodeRunner(hostile).run(code, ask, seconds)
    assert descendants(os.getpid()) <= before
    return outcome


@pytest.mark.parametrize(("name", "code"), ENDED, ids=[name for name, _ in ENDED])
async def test_what_a_child_must_not_say_or_do_is_its_end(runtime: Runtime, name: str, code: str) -> None:
    outcome = await run(runtime, code, 30)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.value) == ("child_exit", None)


@pytest.mark.parametrize(("name", "code", "failure"), OTHERWISE, ids=[name for name, _, _ in OTHERWISE])
async def test_what_comes_of_other_odd_children(runtime: Runtime, name: str, code: str, failure: str) -> None:
    outcome = await run(runtime, code)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.value) == (failure, None)


async def test_a_child_that_takes_much_memory_is_ended_or_stopped(runtime: Runtime) -> None:
    hoard = "const a = []; for (;;) a.push(Buffer.alloc(64 << 20, 1))"
    outcome = await run(runtime, hoard, 30)
    assert outcome.failure is not None
    assert outcome.failure.code == "child_exit"


async def test_what_comes_after_the_outcome_does_not_count(runtime: Runtime) -> None:
    outcome = await run(
        runtime, "done('returned', '1'); done('returned', '2'); call(1); raw(Buffer.alloc(1 << 20)); hang()"
    )
    assert (outcome.value, outcome.failure) == (1, None)


async def test_a_forged_pass_opens_nothing_for_the_next(runtime: Runtime) -> None:
    await run(runtime, "process.exit(0)")
    assert (await CodeRunner(runtime).run("return 1", ask, 20)).value == 1
