// The two doors between JavaScript and Python: JSON text goes in, JSON text comes out.
//
// Owns the pairing of requests with their answers, and the one lasting proxy of a Python function. Knows
// nothing of what the texts mean. The module that Python sees as `_pedelec_js` is made here.

import { Asking, isHidden, watchVisibility } from "./asking.mjs";
import { Calls, isThenable } from "./calls.mjs";
import { Client } from "./client.mjs";
import { PedelecError, page } from "./page.mjs";
import { openSocket } from "./socket.mjs";
import { describeThrown } from "./thrown.mjs";

export class Bridge {
  #dispatch;
  #pending = new Map();
  #listeners = new Map();
  #lastId = 0;

  /** @param {Function} dispatch Python's end: `(operation, requestId, payload, functions) -> text?` */
  open(dispatch) {
    this.#dispatch = dispatch;
  }

  /** Ask Python for something it answers later. */
  request(operation, payload, functions = []) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      try {
        this.#dispatch(operation, id, JSON.stringify(payload), functions);
      } catch (error) {
        this.#pending.delete(id);
        reject(error);
      }
    });
  }

  /** Ask Python for something it answers at once. */
  call(operation, payload, functions = []) {
    return resultOf(this.#dispatch(operation, 0, JSON.stringify(payload), functions));
  }

  /** Hear the events of a session until `forget`. */
  listen(key, listener) {
    this.#listeners.set(key, listener);
  }

  forget(key) {
    this.#listeners.delete(key);
  }

  /** Called by Python: the answer to a request. */
  settle(id, text) {
    const { resolve, reject } = this.#pending.get(id);
    this.#pending.delete(id);
    try {
      resolve(resultOf(text));
    } catch (error) {
      reject(error);
    }
  }

  /** Called by Python: an event of a session. */
  emit(key, kind, text) {
    this.#listeners.get(key)?.(kind, JSON.parse(text));
  }
}

function resultOf(text) {
  const { ok, result, error } = JSON.parse(text);
  if (!ok) throw new PedelecError(error);
  return result;
}

/** A promise to wait for before connecting, where the browser will ask the person; else nothing. */
function invitation(coreUrl) {
  const isElsewhere = globalThis.isSecureContext && new URL(coreUrl).origin !== globalThis.location.origin;
  return isElsewhere ? page.doorway().then((doorway) => doorway.invitation(coreUrl)) : undefined;
}

/** Why Core cannot be reached, as the JSON text of an error envelope; blank where nothing more can be told. */
async function explain(coreUrl) {
  const { origin } = new URL(coreUrl);
  if (origin === globalThis.location.origin) return "";
  const doorway = await page.doorway().catch(() => null);
  return doorway === null ? "" : JSON.stringify(await doorway.explain(origin));
}

/** Connect a Pyodide that has the SDK installed. */
export function connect(pyodide) {
  const bridge = new Bridge();
  const calls = new Calls();
  const asking = new Asking();
  pyodide.registerJsModule("_pedelec_js", {
    core_url: page.coreUrl,
    has_document: globalThis.document !== undefined,
    open_socket: openSocket,
    limit: (maxBytes, maxDepth) => calls.limit(maxBytes, maxDepth),
    encode: (value) => calls.outcomeOf(value),
    is_thenable: isThenable,
    promise: (thenable) => Promise.resolve(thenable),
    describe: (thrown) => JSON.stringify(describeThrown(thrown)),
    notify: (callback, values) => callback(...JSON.parse(values)),
    name_fields: (names) => calls.nameFields(JSON.parse(names)),
    invoke: calls.invoke.bind(calls),
    abort: (key, reason) => calls.abort(key, reason),
    on_progress: (report) => calls.onProgress(report),
    on_ask: (ask) => calls.onAsk(ask),
    answer: (id, text) => calls.answer(id, text),
    open_dialog: (key, text) => void asking.open(key, text),
    close_dialog: (key) => asking.close(key),
    on_answer: (answered) => asking.onAnswer(answered),
    is_hidden: isHidden,
    watch_visibility: watchVisibility,
    webmcp: async (polyfill, ...listeners) => {
      const { open } = await import("./webmcp.mjs"); // when a page first asks for it
      return open(polyfill, (value) => calls.outcomeOf(value), ...listeners);
    },
    settle: (id, text) => bridge.settle(id, text),
    emit: (key, kind, text) => bridge.emit(key, kind, text),
    report: (stage, loaded, total) => page.announce("progress", { stage, loaded, total }),
    invitation: (coreUrl) => invitation(coreUrl),
    explain: (coreUrl) => explain(coreUrl),
  });
  const face = pyodide.pyimport("pedelec._browser.js_face");
  bridge.open(face.start());
  face.destroy();
  let lastClient = 0;
  return { bridge, openClient: (options) => new Client(bridge, ++lastClient, options) };
}
