"""A guest that has escaped: arbitrary JavaScript straight in the Node child, behind every wall but the engine.

Each attempt is made three times and watched from outside: without walls, where it must reach its aim (else the probe
shows nothing), behind all of them, and, on Linux, behind the operating system's alone, as if Node's permission mode had a
hole. What it prints counts, too: a secret that comes out has been read.
"""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from server.code.node import Node
from server.code.walls import command
from tests.support.outside import Outside

SECONDS = 20

PRELUDE = """
const say = (text) => require("node:fs").writeSync(1, String(text) + "\\n");
const end = (text) => { say(text); process.exit(0); };
process.on("uncaughtException", (error) => end(error.code ?? error.name));
process.on("unhandledRejection", (error) => end(error?.code ?? error?.name));
setTimeout(() => end("nothing happened"), 1500);
const stay = () => say("up");
const fs = require("node:fs"), net = require("node:net");
"""


@dataclass(frozen=True, slots=True)
class Probe:
    """What is tried, what of the outside that touches, and the first Node where it exists."""

    name: str
    code: str
    touches: str
    since: tuple[int, ...] = (20,)


PROBES = [
    Probe("tcp", "net.connect({tcp}, '127.0.0.1').on('connect', () => end('in')).on('error', (e) => end(e.code))", "tcp"),
    Probe("fetch", "fetch('http://127.0.0.1:{tcp}/').catch((e) => end(e.cause?.code ?? e.code))", "tcp"),
    Probe("http", "require('node:http').get('http://127.0.0.1:{tcp}/').on('error', (e) => end(e.code))", "tcp"),
    Probe("tls", "require('node:tls').connect({tcp}, '127.0.0.1').on('error', (e) => end(e.code))", "tcp"),
    Probe("unix socket", "net.connect({socket!r}).on('error', (e) => end(e.code)).on('connect', () => end('in'))", "unix"),
    Probe("abstract socket", "net.connect('\\0{abstract}').on('error', (e) => end(e.code)).on('connect', () => end(1))",
          "abstract", (26,)),
    Probe("udp", "const u = require('node:dgram').createSocket('udp4').on('error', (e) => end(e.code)); "
                 "u.send('x', {udp}, '127.0.0.1', (e) => end(e?.code))", "udp"),
    Probe("dns", "const d = new (require('node:dns').Resolver)({{tries: 1, timeout: 500}}); "
                 "d.setServers(['127.0.0.1:{udp}']); d.resolve4('secret.example', (e) => end(e.code))", "udp"),
    Probe("listen", "net.createServer().on('error', (e) => end(e.code)).listen({port}, '127.0.0.1', stay)", "port"),
    Probe("inspector", "require('node:inspector').open({port}, '127.0.0.1'); stay()", "port"),
    Probe("read", "end(fs.readFileSync({secret!r}, 'utf8'))", "secret"),
    Probe("import a file", "import('file://{module}').then(() => end(1), (e) => end(e.code))", "secret"),
    Probe("the gateway's environment", "end(fs.readFileSync(`/proc/${{process.ppid}}/environ`, 'utf8'))", "secret"),
    Probe("write", "fs.writeFileSync({written!r}, 'x'); end(1)", "files"),
    Probe("append", "fs.appendFileSync({secret!r}, 'x'); end(1)", "files"),
    Probe("truncate", "fs.truncateSync({secret!r}, 1); end(1)", "files"),
    Probe("delete", "fs.unlinkSync({secret!r}); end(1)", "files"),
    Probe("rename", "fs.renameSync({secret!r}, {written!r}); end(1)", "files"),
    Probe("chmod", "fs.chmodSync({secret!r}, 0o777); end(1)", "files"),
    Probe("folder", "fs.mkdirSync({written!r}); end(1)", "files"),
    Probe("symbolic link", "fs.symlinkSync('/etc/passwd', {written!r}); end(1)", "files"),
    Probe("hard link", "fs.linkSync({secret!r}, {written!r}); end(1)", "files"),
    Probe("heap snapshot", "require('node:v8').writeHeapSnapshot({written!r}); end(1)", "files"),
    Probe("report", "process.report.writeReport({written!r}); end(1)", "files"),
    Probe("database", "const {{ DatabaseSync }} = require('node:sqlite'); const d = new DatabaseSync(':memory:'); "
                      "d.exec(\"ATTACH '{written}' AS a; CREATE TABLE a.t(x)\"); end(1)", "files", (22, 5)),
    Probe("spawn", "const r = require('node:child_process').spawnSync('/bin/sh', ['-c', '> {written}']); "
                   "end(r.error?.code ?? r.status)", "files"),
    Probe("spawn by the binding", "process.binding('spawn_sync').spawn({{ file: '/bin/sh', "
                                  "args: ['sh', '-c', '> {written}'], stdio: [] }}); end(1)", "files"),
    Probe("fork", "require('node:child_process').fork('-e', [], {{ execPath: '/bin/sh', execArgv: ['-c', "
                  "'> {written}', '-'] }}).on('error', (e) => end(e.code)).on('exit', () => end(1))", "files"),
    Probe("become another program", "process.execve('/bin/sh', ['sh', '-c', '> {written}'], {{}})", "files", (23, 11)),
    Probe("worker", "new (require('node:worker_threads').Worker)(`require('node:fs').writeFileSync({written!r}, 'x')`, "
                    "{{ eval: true }}).on('error', (e) => end(e.code)).on('exit', () => end(1))", "files"),
    Probe("wasi", "const w = new (require('node:wasi').WASI)({{ version: 'preview1', preopens: {{ '/': {folder!r} }} }}); "
                  "fs.writeFileSync({written!r}, 'x'); end(1)", "files"),
    Probe("kill", "process.kill({pid}, 'SIGKILL'); setTimeout(end, 100, 1)", "process"),
    Probe("kill a group", "process.kill(-{pid}, 'SIGKILL'); setTimeout(end, 100, 1)", "process"),
    Probe("signal the gateway", "process.kill(process.ppid, 'SIGWINCH'); setTimeout(end, 100, 1)", "signal"),
    Probe("priority", "require('node:os').setPriority({pid}, 7); end(1)", "priority"),
]  # fmt: skip


def attempt(argv: list[str], world: Outside, *, env: dict[str, str] | None = None) -> list[str]:
    """What it has touched."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.PIPE, env=env, cwd="/",
                          start_new_session=True) as process:  # fmt: skip
        assert process.stdout is not None
        said = process.stdout.readline()
        if said.strip() != b"up":
            said += process.stdout.read()
        touched = world.touched(said.decode(errors="replace"))
        process.kill()
    return touched


def script(probe: Probe, world: Outside) -> str:
    aims: dict[str, object] = {
        "tcp": world.tcp.getsockname()[1],
        "udp": world.udp.getsockname()[1],
        "socket": str(world.socket),
        "abstract": world.abstract_name,
        "port": world.free_port,
        "secret": str(world.secret),
        "module": world.module,
        "written": str(world.written),
        "folder": str(world.folder),
        "pid": world.process.pid,
    }
    return PRELUDE + probe.code.format(**aims)


def need(probe: Probe, node: Node) -> None:
    if node.version < probe.since:
        pytest.skip(f"{node} has no such thing")


@pytest.mark.probes
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_without_walls_it_reaches_its_aim(probe: Probe, node: Node, world: Outside) -> None:
    need(probe, node)
    assert probe.touches in attempt([node.program, "--no-warnings", "--eval", script(probe, world)], world)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_behind_all_walls_it_reaches_nothing(probe: Probe, node: Node, world: Outside) -> None:
    assert attempt(command(node, script(probe, world), SECONDS), world, env={}) == []


@pytest.mark.probes
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has walls besides Node's own")
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_behind_the_systems_walls_alone_it_reaches_nothing(probe: Probe, node: Node, world: Outside) -> None:
    own = ("--permission", "--experimental-permission", "--no-experimental-sqlite")
    argv = [word for word in command(node, script(probe, world), SECONDS) if word not in own]
    assert attempt(argv, world, env={}) == []
