// A child that is not ours: it speaks the protocol as far as `ready`, and then does what its code says.
"use strict";
const fs = require("node:fs");
const readBytes = (count) => {
  const bytes = Buffer.alloc(count);
  for (let have = 0; have < count; ) {
    const got = fs.readSync(0, bytes, have, count - have, null);
    if (!got) process.exit(0);
    have += got;
  }
  return bytes;
};
const read = () => readBytes(readBytes(4).readUInt32BE(0));
const raw = (bytes) => { for (let sent = 0; sent < bytes.length; ) sent += fs.writeSync(1, bytes, sent); };
const body = (text) => {
  const bytes = Buffer.from(text), length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length, 0);
  raw(Buffer.concat([length, bytes]));
};
const send = (message) => body(JSON.stringify(message));
const call = (id, method = "search", values = '["x",{}]') => send({ type: "call", id, method, values });
const done = (how, text) => send({ type: "done", how, text });
const hang = () => setInterval(() => {}, 1000);
for (let part = 0; part < 6; part++) read();
const good = { read: "EPERM", write: "EPERM", spawn: "EPERM", worker: "EPERM", tcp: "EPERM", unix: "EPERM", udp: "EPERM" };
send({ type: "ready", attempts: { ...good, sqlite: "absent", environment: "empty" } });
new Function("read", "raw", "body", "send", "call", "done", "hang", "fs", read().toString())(
  read, raw, body, send, call, done, hang, fs);
