// Runs a JavaScript author's handler for Python: text in, text out.
//
// Owns the calls that run, their contexts and abort signals. A handler's arguments and context are made
// afresh for each call; its result leaves as JSON text (`=` and the text) or as a refusal (`!` and its
// description), so that no live object crosses to Python.

import { quietly } from "./describe.mjs";
import { encode } from "./encode.mjs";
import { PedelecError, ToolError } from "./page.mjs";
import { describeThrown } from "./thrown.mjs";

const contexts = new WeakMap();

/** The call that a handler's context belongs to, for whoever has to write it out; undefined for other objects. */
export function callOf(context) {
  return contexts.get(context)?.();
}

/** The abort signal of one call, made when it is first looked at: hardly any handler does. */
class Abortion {
  #controller = null;
  #reason = null;

  get signal() {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get happened() {
    return this.#reason !== null;
  }

  abort(reason) {
    this.#reason = new DOMException(`The call is over: ${reason}.`, "AbortError");
    this.#controller?.abort(this.#reason);
  }
}

export class Calls {
  #limits = { maxBytes: 0, maxDepth: 0 };
  #fieldNames = [];
  #running = new Map();
  #reportProgress = null;
  #ask = null;
  #asked = new Map();
  #lastQuestion = 0;

  /** Set how large and how deeply nested a result may be. Nothing passes before it is told. */
  limit(maxBytes, maxDepth) {
    this.#limits = { maxBytes, maxDepth };
  }

  /** @param {string[]} names of a context's plain fields, in the order in which `invoke` gets their values */
  nameFields(names) {
    this.#fieldNames = names;
  }

  /** `=` and the JSON text of a value, or `!` and why it has none. */
  outcomeOf(value) {
    if (quietly(() => value instanceof PedelecError) === true) return refusalOf(value); // returned is as thrown
    const { text, fault, size } = encode(value, this.#limits);
    if (text !== undefined) return `=${text}`;
    return `!${JSON.stringify(fault === undefined ? { size, limit: this.#limits.maxBytes } : { fault })}`;
  }

  /** @param {(key: number, done: number, total?: number, message?: string) => void} report */
  onProgress(report) {
    this.#reportProgress = report;
  }

  /** @param {(key: number, id: number, text: string) => void} ask */
  onAsk(ask) {
    this.#ask = ask;
  }

  /** Called by Python: what a person's answer came to, `{"value": …}` or `{"error": …}`. */
  answer(id, text) {
    const { resolve, reject } = this.#asked.get(id);
    this.#asked.delete(id);
    const { value, error } = JSON.parse(text);
    if (error === undefined) resolve(value);
    else reject(new ToolError(error));
  }

  /**
   * Run a handler.
   *
   * @param {Function} handler
   * @param {number} key names the call in `abort` and in progress reports
   * @param {boolean} generic whether the handler takes the tool's name first
   * @param {number} remainingMs until the call's deadline
   * @param {string} argsText the arguments as JSON
   * @param {(string | number | undefined)[]} values of the context's plain fields
   * @returns {string | Promise<string>} the outcome; never throws or rejects
   */
  invoke(handler, key, generic, remainingMs, argsText, ...values) {
    try {
      const context = this.#open(key, remainingMs, this.#fields(values));
      contexts.set(context, () => ({ tool: context.tool, args: JSON.parse(argsText) }));
      const args = JSON.parse(argsText);
      const result = generic ? handler(context.tool, args, context) : handler(args, context);
      if (isThenable(result)) return this.#settled(result, key);
      return this.#close(key, this.outcomeOf(result));
    } catch (thrown) {
      return this.#close(key, refusalOf(thrown));
    }
  }

  /** Tell a running handler that nobody waits for it any more. */
  abort(key, reason) {
    this.#running.get(key)?.abort(reason);
  }

  async #settled(result, key) {
    try {
      return this.#close(key, this.outcomeOf(await result));
    } catch (thrown) {
      return this.#close(key, refusalOf(thrown));
    }
  }

  #close(key, outcome) {
    this.#running.delete(key);
    return outcome;
  }

  #fields(values) {
    const fields = {};
    this.#fieldNames.forEach((name, index) => {
      if (values[index] !== undefined) fields[name] = values[index];
    });
    return fields;
  }

  #open(key, remainingMs, fields) {
    const abortion = new Abortion();
    this.#running.set(key, abortion);
    const end = performance.now() + remainingMs;
    return {
      ...fields,
      deadline: Date.now() + remainingMs,
      get signal() {
        return abortion.signal;
      },
      get remainingMs() {
        return abortion.happened ? 0 : Math.max(0, Math.round(end - performance.now()));
      },
      get cancelled() {
        return new Promise((resolve) => {
          if (abortion.signal.aborted) resolve();
          else abortion.signal.addEventListener("abort", () => resolve(), { once: true });
        });
      },
      progress: (done, total, message) => this.#progress(key, done, total, message),
      ask: async (question, options) => this.#askPerson(key, { ...options, question }),
    };
  }

  #askPerson(key, asked) {
    const text = JSON.stringify(asked);
    const id = ++this.#lastQuestion;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#ask(key, id, text);
    });
  }

  #progress(key, done, total, message) {
    requireType("done", done, "number");
    if (total !== undefined && total !== null) requireType("total", total, "number");
    if (message !== undefined && message !== null) requireType("message", message, "string");
    if (this.#running.has(key)) this.#reportProgress(key, done, total ?? undefined, message ?? undefined);
  }
}

function refusalOf(thrown) {
  return `!${JSON.stringify(describeThrown(thrown))}`;
}

/** Whether `await` waits for a value. A `then` that throws when it is read makes a thenable that rejects. */
export function isThenable(value) {
  return Object(value) === value && quietly(() => typeof value.then !== "function") !== true;
}

function requireType(name, value, type) {
  const good = type === "number" ? Number.isFinite(value) : typeof value === type;
  if (!good) throw new TypeError(`progress: ${name} must be a ${type === "number" ? "finite number" : type}`);
}
