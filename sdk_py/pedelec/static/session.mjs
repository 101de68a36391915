// One session, as JavaScript authors see it: the names, arguments and events of the TypeScript SDK.
//
// Owns the callbacks of JavaScript authors and their isolation from each other. Tool handlers are Python's to
// keep and to choose from, the same for both languages.

import { textOf } from "./describe.mjs";
import { PedelecError } from "./page.mjs";

export class PedelecSession {
  #bridge;
  #address;
  #ended = false;
  #lastRegistration = 0;
  #callbacks = { error: new Set(), status: new Set(), ended: new Set() };

  constructor(bridge, client, { sessionId, sessionCreatedAt, provider, model }, forget) {
    Object.assign(this, { sessionId, provider, model, sessionCreatedAt });
    this.#bridge = bridge;
    this.#address = { client, session: sessionId };
    const key = `${client}:${sessionId}`;
    bridge.listen(key, (kind, event) => {
      if (kind === "ended") {
        this.#ended = true;
        bridge.forget(key);
        forget();
      }
      this.#tell(kind, event);
    });
  }

  onTool(nameOrHandler, maybeHandler) {
    const named = typeof nameOrHandler === "string";
    const address = { ...this.#address, registration: ++this.#lastRegistration };
    const handler = named ? maybeHandler : nameOrHandler;
    if (this.#ended) return () => {};
    this.#bridge.call("on_tool", { ...address, name: named ? nameOrHandler : null }, [handler]);
    return () => {
      if (!this.#ended) this.#bridge.call("off_tool", { ...address, name: named ? nameOrHandler : null });
    };
  }

  onError(handler) {
    return this.#listen("error", handler);
  }

  onStatus(handler) {
    const dispose = this.#listen("status", handler);
    if (!this.#ended) this.#bridge.call("hear_status", this.#address);
    return dispose;
  }

  onEnded(handler) {
    return this.#listen("ended", handler);
  }

  /** Offer the browser's own tools to Core; resolves to what ends that. */
  async importWebmcp() {
    this.#refuseWhenEnded();
    const address = { ...this.#address, import: ++this.#lastRegistration };
    await this.#bridge.request("import_webmcp", address);
    return () => {
      if (!this.#ended) this.#bridge.call("stop_import", address);
    };
  }

  getStatus() {
    return this.#ended ? "ended" : this.#bridge.call("get_status", this.#address);
  }

  async end() {
    if (!this.#ended) await this.#bridge.request("end_session", this.#address);
  }

  async prepare() {
    this.#refuse("prepare");
  }

  async sendText() {
    this.#refuse("sendText");
  }

  onChat() {
    this.#refuse("onChat");
  }

  async uploadAsset() {
    this.#refuse("uploadAsset");
  }

  async listAssets() {
    this.#refuse("listAssets");
  }

  async readAsset() {
    this.#refuse("readAsset");
  }

  #refuse(name) {
    this.#refuseWhenEnded();
    const message = `${name} is not supported: the agent, its model and its files are outside of Core.`;
    throw new PedelecError({ code: "NOT_SUPPORTED", message });
  }

  #refuseWhenEnded() {
    if (!this.#ended) return;
    const details = { sessionId: this.sessionId };
    throw new PedelecError({ code: "SESSION_ENDED", message: "The session has ended.", details });
  }

  #listen(kind, handler) {
    if (typeof handler !== "function") {
      throw new PedelecError({ code: "INVALID_INPUT", message: `The ${kind} callback must be a function.` });
    }
    this.#callbacks[kind].add(handler);
    return () => void this.#callbacks[kind].delete(handler);
  }

  #tell(kind, event) {
    for (const callback of [...this.#callbacks[kind]]) tellOne(kind, callback, event);
  }
}

// Each callback gets objects of its own, so that one that changes them does not change what the next one
// sees.
async function tellOne(kind, callback, event) {
  const { error, status, context } = structuredClone(event);
  const first = { error: () => [new PedelecError(error)], status: () => [status], ended: () => [] }[kind]();
  try {
    await callback(...first, context);
  } catch (failure) {
    console.error(`[pedelec] A session's ${kind} callback failed. ${textOf(failure)}`, failure);
  }
}
