// The child process: first tries to break out, then runs a model's code in an engine of its own.
//
// Given to `node --eval`, without a grant of any kind. Everything comes in on descriptor 0 and goes out on 1, as frames:
// four bytes of length, then that many bytes. In: the parts of the engine, the bounds, the code, answers to calls.
// Out: ready (with what the attempts came to), logs, calls, done. The parent judges all of it and believes none.
"use strict";
const fs = require("node:fs");

function readBytes(count) {
  const bytes = Buffer.allocUnsafe(count);
  for (let have = 0; have < count; ) {
    const got = fs.readSync(0, bytes, have, count - have, null);
    if (got === 0) process.reallyExit(0); // the parent is gone
    have += got;
  }
  return bytes;
}

function readFrame() {
  return readBytes(readBytes(4).readUInt32BE(0));
}

function writeFrame(message) {
  const body = Buffer.from(JSON.stringify(message));
  const bytes = Buffer.allocUnsafe(4 + body.length);
  bytes.writeUInt32BE(body.length, 0);
  body.copy(bytes, 4);
  for (let sent = 0; sent < bytes.length; ) sent += fs.writeSync(1, bytes, sent);
}

// --- The attempts. Each gives the code of the error that stopped it, or "open".

const codeOf = (error) => String(error?.code ?? error?.cause?.code ?? error?.name ?? "unknown");

function attempt(act) {
  try {
    act();
    return "open";
  } catch (error) {
    return codeOf(error);
  }
}

function connect(where) {
  return new Promise((resolve) => {
    try {
      const socket = require("node:net").connect(where);
      socket.once("connect", () => resolve("open"));
      socket.once("error", (error) => resolve(codeOf(error)));
    } catch (error) {
      resolve(codeOf(error));
    }
  });
}

function bindDatagram() {
  return new Promise((resolve) => {
    try {
      const socket = require("node:dgram").createSocket("udp4");
      socket.once("error", (error) => resolve(codeOf(error)));
      socket.bind(0, "127.0.0.1", () => resolve("open"));
    } catch (error) {
      resolve(codeOf(error));
    }
  });
}

function openDatabase() {
  let sqlite;
  try {
    sqlite = process.getBuiltinModule ? process.getBuiltinModule("node:sqlite") : require("node:sqlite");
  } catch {
    return "absent";
  }
  return sqlite ? "open" : "absent"; // loading it is enough: it opens files whatever the permissions say
}

async function attempts(paths) {
  const { spawnSync } = require("node:child_process");
  return {
    read: attempt(() => fs.readFileSync(paths.readable)),
    write: attempt(() => fs.writeFileSync(paths.writable, "open")),
    spawn: attempt(() => {
      const { error } = spawnSync(process.execPath, ["--version"]);
      if (error) throw error;
    }),
    worker: attempt(() => new (require("node:worker_threads").Worker)("0", { eval: true })),
    tcp: await connect({ host: "127.0.0.1", port: paths.port }),
    unix: await connect({ path: paths.socket }),
    udp: await bindDatagram(),
    sqlite: openDatabase(),
    environment: Object.keys(process.env).length ? "open" : "empty",
  };
}

// --- The engine and the code.

function fromText(text) {
  const module = { exports: {} };
  new Function("module", "exports", "require", "__dirname", text)(module, module.exports, narrowRequire, "/");
  return module.exports;
}

let types; // the one package that the others ask for
const narrowRequire = (name) => (name === "@jitl/quickjs-ffi-types" ? types : {});

async function loadEngine(bounds) {
  const [typesText, coreText, ffiText, loaderText, wasmBinary] = [0, 1, 2, 3, 4].map(readFrame);
  types = fromText(typesText.toString());
  const core = fromText(coreText.toString());
  // The bound on memory that holds: the engine's own limit does not count what this build of it allocates.
  const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: Math.ceil(bounds.memoryBytes / 65536) });
  const { QuickJSFFI } = fromText(ffiText.toString());
  const load = fromText(loaderText.toString());
  const engine = await core.newQuickJSWASMModuleFromVariant({
    type: "sync",
    importFFI: async () => QuickJSFFI,
    importModuleLoader: async () => (options) => load({ ...options, wasmBinary, wasmMemory, print() {}, printErr() {} }),
  });
  const runtime = engine.newRuntime();
  runtime.setMaxStackSize(bounds.stackBytes);
  // The parent ends us long before; this is for the case that the parent was killed.
  const latest = Date.now() + bounds.seconds * 1000;
  runtime.setInterruptHandler(() => Date.now() > latest && process.reallyExit(1));
  return runtime;
}

// As many of these bytes as there is room for, and no half of a character, which would come out longer than it went in.
function wholeCharacters(bytes, room) {
  let end = Math.min(room, bytes.length);
  while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

// How many brackets stand open at once in a JSON text.
function depthOf(text) {
  let open = 0;
  let most = 0;
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/g)) {
    if (sign === "[" || sign === "{") most = Math.max(most, ++open);
    else if (sign === "]" || sign === "}") open--;
  }
  return most;
}

class Run {
  constructor(runtime, bounds, guestText) {
    this.runtime = runtime;
    this.context = runtime.newContext();
    this.bounds = bounds;
    this.calls = 0; // made in all
    this.queue = []; // made and not sent yet
    this.sent = 0; // sent and not answered yet
    this.logged = 0; // bytes
    this.lines = 0;
    this.outcome = null;
    const { context } = this;
    const number = (id) => context.newNumber(id);
    const post = context.newFunction("post", (method, values) => {
      const answer = this.post(context.getString(method), context.getString(values));
      return typeof answer === "number" ? number(answer) : context.newString(answer);
    });
    const record = context.newFunction("record", (level, line) => {
      this.record(context.getString(level), context.getString(line));
    });
    const finish = context.newFunction("finish", (how, text) => {
      this.outcome ??= { how: context.getString(how), text: context.getString(text) };
    });
    const made = context.unwrapResult(context.evalCode(guestText, "toolfold"));
    this.guest = context.unwrapResult(context.callFunction(made, context.undefined, post, record, finish));
  }

  post(method, values) {
    if (this.calls >= this.bounds.calls) return `only ${this.bounds.calls} calls may be made in one run`;
    if (Buffer.byteLength(values) > this.bounds.argumentBytes) return "the arguments are too large";
    if (depthOf(values) > this.bounds.argumentDepth) return "the arguments are nested too deep";
    this.queue.push({ type: "call", id: ++this.calls, method, values });
    this.sendQueued();
    return this.calls;
  }

  sendQueued() {
    while (this.queue.length && this.sent < this.bounds.pending) {
      this.sent++;
      writeFrame(this.queue.shift());
    }
  }

  record(level, line) {
    const room = this.bounds.logBytes - this.logged;
    if (room <= 0) return;
    const bytes = Buffer.from(line);
    const isCut = bytes.length >= room || ++this.lines >= this.bounds.logLines;
    this.logged = isCut ? this.bounds.logBytes : this.logged + bytes.length;
    writeFrame({ type: "log", level, text: wholeCharacters(bytes, room), isCut });
  }

  tell(name, ...values) {
    const { context } = this;
    const method = context.getProp(this.guest, name);
    const result = context.callFunction(method, context.undefined, ...values);
    if (result.error) this.fail(result.error);
    else result.value.dispose();
    method.dispose();
    for (const value of values) value.dispose();
  }

  fail(error) {
    const shown = this.context.dump(error);
    error.dispose();
    this.outcome ??= { how: "threw", text: `${shown?.name ?? "Error"}: ${shown?.message ?? shown}` };
  }

  settle({ id, isGood, text }) {
    this.sent--;
    this.sendQueued();
    const { context } = this;
    const good = isGood ? context.true : context.false;
    this.tell("settle", context.newNumber(id), good, context.newString(text));
  }

  // Until nothing is left to do: calls that the code did not wait for are waited for here.
  toTheEnd(code) {
    this.tell("start", this.context.newString(code));
    for (;;) {
      const { error } = this.runtime.executePendingJobs();
      if (error) this.fail(error);
      if (this.sent === 0) break;
      this.settle(JSON.parse(readFrame()));
    }
    return this.outcome ?? { how: "stuck", text: "the code waits for a promise that nothing will settle" };
  }
}

// Without our own frames, and with the lines as the model counts them: the engine puts two before the code.
function inItsTerms(trace) {
  const own = trace.split("\n").filter((line) => !line.includes("(toolfold:") && !line.includes("AsyncFunction (native)"));
  return own.join("\n").trim().replace(/<input>:(\d+)/g, (_all, line) => `line ${Math.max(1, line - 2)}`);
}

async function main() {
  const { paths, bounds, guest } = JSON.parse(readFrame());
  const came = await attempts(paths);
  const run = new Run(await loadEngine(bounds), bounds, guest);
  writeFrame({ type: "ready", attempts: came, node: process.versions.node });
  const { how, text } = run.toTheEnd(readFrame().toString());
  if (how !== "returned") writeFrame({ type: "done", how, text: inItsTerms(text.slice(0, bounds.errorCharacters)) });
  else if (Buffer.byteLength(text) <= bounds.resultBytes) writeFrame({ type: "done", how, text });
  else writeFrame({ type: "done", how: "too_long", text: "" });
  process.reallyExit(0);
}

main().catch((error) => {
  writeFrame({ type: "failed", text: String(error?.message ?? error).slice(0, 500) });
  process.reallyExit(1);
});
