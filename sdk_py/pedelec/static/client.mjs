// The JavaScript face of one Python client: requests go to it as text, sessions come back as objects.
//
// Owns which session objects exist. Everything else (checks, handlers, the connection) is Python's.

import { PedelecError } from "./page.mjs";
import { PedelecSession } from "./session.mjs";

export class Client {
  #bridge;
  #id;
  #sessions = new Map();
  #lastRegistration = 0;

  constructor(bridge, id, options) {
    this.#bridge = bridge;
    this.#id = id;
    bridge.call("open_client", { client: id, options });
  }

  async createSession({ manifest, handlers, predicates, provider, model }) {
    const functions = [...handlers, ...predicates];
    const created = await this.#bridge.request("create_session", { client: this.#id, manifest }, functions);
    return this.#session({ ...created, provider, model });
  }

  async resumeSession(sessionId) {
    if (typeof sessionId !== "string" || sessionId.trim() === "") {
      throw new PedelecError({
        code: "INVALID_INPUT",
        message: "sessionId must be a string that is not blank.",
      });
    }
    const resumed = await this.#bridge.request("resume_session", { client: this.#id, session: sessionId });
    return this.#session({ ...resumed, provider: "", model: undefined });
  }

  getApprovalStatus() {
    return this.#bridge.request("get_approval_status", { client: this.#id });
  }

  onQuestion(handler) {
    const address = { client: this.#id, registration: ++this.#lastRegistration };
    this.#bridge.call("on_question", address, [handler]);
    return () => this.#bridge.call("off_question", address);
  }

  // One object for each session, however often it is resumed: its callbacks are its own.
  #session(facts) {
    const { sessionId } = facts;
    if (!this.#sessions.has(sessionId)) {
      const forget = () => this.#sessions.delete(sessionId);
      this.#sessions.set(sessionId, new PedelecSession(this.#bridge, this.#id, facts, forget));
    }
    return this.#sessions.get(sessionId);
  }
}
