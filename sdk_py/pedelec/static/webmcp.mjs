// The page's WebMCP API (`document.modelContext`) for Python: texts in, texts out. Loaded when it is asked for.
//
// Owns which tools are registered there by us, and what runs between Python and the browser: calls of our tools by
// the browser's agents, and ours of the tools of others. What a tool is called and what a result means is Python's.
//
// What is guarded against was measured in Chromium 156: the text of what a tool throws is lost, a DOM node becomes
// `{}`, a BigInt a number, and a Symbol ends the tab. So nothing of ours throws, and only JSON gets out.

import { textOf } from "./describe.mjs";

/**
 * @param {boolean} polyfill whether to give the page the API where it lacks it
 * @param {(value: unknown) => string} outcomeOf a value as text, or why it has none (see calls.mjs)
 * @param {(key: number, call: number, outcome: string) => void} called a tool of ours was called
 * @param {(call: number) => void} cancelled nobody waits for that call any more
 * @param {() => void} changed the tools of others may have changed
 * @returns {Promise<ModelContext | undefined>} undefined where the browser lacks the API
 */
export async function open(polyfill, outcomeOf, called, cancelled, changed) {
  if (globalThis.document === undefined) return undefined; // in a worker
  if (document.modelContext === undefined && polyfill) {
    const { install } = await import("./webmcp-polyfill.mjs");
    install(document);
  }
  const native = document.modelContext;
  if (native === undefined) return undefined;
  return new ModelContext(native, { outcomeOf, called, cancelled, changed });
}

class ModelContext {
  #native;
  #python;
  #registered = new Map(); // by key
  #waiting = new Map(); // our tools' calls, by number: who gets the answer
  #known = new Map(); // the tools of others, by key
  #running = new Map(); // calls of these, by number: their abort controllers
  #lastCall = 0;

  constructor(native, python) {
    this.#native = native;
    this.#python = python;
  }

  // --- our tools --------------------------------------------------------------------------------------------

  /** Register a tool, given as JSON; "" or why the browser refused. */
  async register(key, text) {
    const controller = new AbortController();
    const tool = JSON.parse(text);
    this.#registered.set(key, { controller, name: tool.name });
    try {
      const execute = (input, options) => this.#called(key, input, options);
      await this.#native.registerTool({ ...tool, execute }, { signal: controller.signal });
      return "";
    } catch (error) {
      if (this.#registered.get(key)?.controller === controller) this.#registered.delete(key);
      return controller.signal.aborted ? "" : textOf(error);
    }
  }

  unregister(key) {
    this.#registered.get(key)?.controller.abort();
    this.#registered.delete(key);
  }

  // Before Chromium 156 the input was text. `options` was something else before it had a signal.
  #called(key, input, options) {
    if (!this.#registered.has(key)) throw new DOMException("The tool was unregistered.", "InvalidStateError");
    return new Promise((resolve) => {
      const call = ++this.#lastCall;
      this.#waiting.set(call, resolve);
      const signal = options?.signal;
      if (signal instanceof AbortSignal) {
        const giveUp = () => this.#waiting.has(call) && this.#python.cancelled(call);
        signal.addEventListener("abort", giveUp, { once: true });
      }
      const outcome = typeof input === "string" ? `=${input}` : this.#python.outcomeOf(input ?? {});
      this.#python.called(key, call, outcome);
    });
  }

  /** Answer a call with JSON text. */
  answer(call, text) {
    const resolve = this.#waiting.get(call);
    this.#waiting.delete(call);
    resolve?.(JSON.parse(text));
  }

  // --- the tools of others ----------------------------------------------------------------------------------

  /** The tools of others, as JSON. */
  async tools() {
    const found = (await this.#native.getTools()).filter((tool) => !this.#isOurs(tool));
    const before = [...this.#known];
    this.#known = new Map(found.map((tool) => [keyOf(tool, before) ?? crypto.randomUUID(), placeOf(tool)]));
    const keys = [...this.#known.keys()];
    return JSON.stringify(found.map((tool, index) => ({ key: keys[index], ...described(tool) })));
  }

  /** Hear of changes, until what this returns is called. */
  watch() {
    const listener = () => this.#python.changed();
    this.#native.addEventListener("toolchange", listener);
    return () => this.#native.removeEventListener("toolchange", listener);
  }

  /** Run one with arguments as JSON; the outcome as JSON (see `webmcp.answers.read_result`). Never rejects. */
  async execute(call, key, argsText) {
    const controller = new AbortController();
    this.#running.set(call, controller);
    try {
      return JSON.stringify(await this.#outcomeOf(this.#known.get(key), argsText, controller.signal));
    } finally {
      this.#running.delete(call);
    }
  }

  /** Nobody waits for such a call any more. */
  abort(call, reason) {
    this.#running.get(call)?.abort(new DOMException(`The call is over: ${reason}.`, "AbortError"));
  }

  async #outcomeOf(place, argsText, signal) {
    const tool = place && (await this.#find(place));
    if (!tool) return { gone: true };
    try {
      // Where schemas are text, so are arguments: both changed in Chromium 156.
      const input = typeof tool.inputSchema === "string" ? argsText : JSON.parse(argsText);
      const result = await this.#native.executeTool(tool, input, { signal });
      if (result === null || result === undefined) return { navigated: true };
      if (typeof result === "string") return { text: result };
      const outcome = this.#python.outcomeOf(result);
      return outcome.startsWith("=") ? { value: JSON.parse(outcome.slice(1)) } : { failed: "its result has no JSON" };
    } catch (error) {
      return { failed: textOf(error), lost: !(await this.#find(place)) };
    }
  }

  async #find({ name, source }) {
    const found = await this.#native.getTools();
    return found.find((tool) => tool.name === name && sourceOf(tool) === source);
  }

  #isOurs(tool) {
    if (sourceOf(tool) !== globalThis.window) return false;
    return [...this.#registered.values()].some(({ name }) => name === tool.name);
  }
}

// The window that a tool was registered in: `window` until Chromium 160, `source` from then on.
const sourceOf = (tool) => tool.source ?? tool.window;
const placeOf = (tool) => ({ name: tool.name, source: sourceOf(tool) });

/** The key by which a tool was known before. */
function keyOf(tool, before) {
  return before.find(([, { name, source }]) => name === tool.name && source === sourceOf(tool))?.[0];
}

// Member by member: from Chromium 160 on tools are objects that neither spread nor stringify.
function described({ name, title, description, inputSchema, annotations }) {
  const { readOnlyHint, untrustedContentHint, consequentialHint } = annotations ?? {};
  const hints = { readOnlyHint, untrustedContentHint, consequentialHint };
  return { name, title, description, inputSchema, annotations: hints };
}
