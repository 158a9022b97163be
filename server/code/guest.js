// What a model's code sees: `console` and `openclaw.tools`. Evaluated inside the engine before any code of a model.
//
// Laws
// 1. Only strings and numbers cross the border; values travel as JSON text.
// 2. Whatever code does to the built-in objects afterwards, what is used here was taken before.
(function (post, record, finish) {
  "use strict";
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { freeze, create, defineProperty } = Object;
  const { then } = Promise.prototype;
  const [PromiseHere, ErrorHere, TypeErrorHere, asText] = [Promise, Error, TypeError, String];
  const AsyncFunction = (async () => {}).constructor;
  const waiting = create(null); // of each call under way, its number and the two functions of its promise

  function ask(method, values) {
    return new PromiseHere((resolve, reject) => {
      const answer = post(method, stringify(values)); // a number, or in words why it can't be
      if (typeof answer === "string") reject(new ErrorHere(answer));
      else waiting[answer] = { resolve, reject };
    });
  }

  function settle(number, isGood, text) {
    const call = waiting[number];
    delete waiting[number];
    const value = parse(text);
    if (isGood) return call.resolve(value);
    const error = new ErrorHere(value.message);
    error.code = value.code;
    error.hint = value.hint;
    call.reject(error);
  }

  function need(value, what) {
    if (typeof value !== "string") throw new TypeErrorHere(`${what} must be a string`);
    return value;
  }

  const tools = freeze({
    search: async (query, options) => ask("search", [need(query, "search query"), options ?? {}]),
    describe: async (id) => ask("describe", [need(id, "describe id")]),
    call: async (id, args) => ask("call", [need(id, "call id"), args ?? {}]),
  });

  function shown(value) {
    if (typeof value === "string") return value;
    try {
      if (value instanceof ErrorHere) return inWords(value);
      return stringify(value) ?? asText(value);
    } catch {
      return typeof value;
    }
  }

  function inWords(error) {
    try {
      if (!(error instanceof ErrorHere)) return `thrown: ${shown(error)}`;
      const trace = asText(error.stack ?? "");
      return `${asText(error.name)}: ${asText(error.message)}${trace && "\n" + trace}`;
    } catch {
      return "an error that can't be shown";
    }
  }

  function print(level, values) {
    let line = "";
    for (let i = 0; i < values.length; i++) line += (i ? " " : "") + shown(values[i]);
    record(level, line);
  }

  const shownToCode = {
    console: freeze({
      log: (...values) => print("log", values),
      warn: (...values) => print("warn", values),
      error: (...values) => print("error", values),
    }),
    openclaw: freeze({ tools }),
    tools,
  };
  // What this engine adds to the language, and the specification of this mode does not.
  for (const name of ["performance", "queueMicrotask", "navigator", "DOMException", "gc", "bjson"]) delete globalThis[name];
  for (const name in shownToCode) defineProperty(globalThis, name, { value: shownToCode[name], enumerable: true });

  function start(code) {
    let main;
    try {
      main = new AsyncFunction(code);
    } catch (error) {
      return finish("unreadable", inWords(error));
    }
    const succeeded = (value) => {
      let text;
      try {
        text = stringify(value);
      } catch (error) {
        return finish("threw", inWords(error));
      }
      finish("returned", typeof text === "string" ? text : "null");
    };
    apply(then, main(), [succeeded, (error) => finish("threw", inWords(error))]);
  }

  return freeze({ start, settle });
});
