// The inspector's connection to Core (docs/protocol.md, "The inspector's socket").
//
// Owns the socket, its return after a loss, and which answer belongs to which request. Shows nothing.

import { whyNotConnected } from "./reach.mjs";

const CALL_EVENTS = new Set(["progress", "waiting", "resumed"]);
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 2000;

/** Events: `state` (connected or not), `core`, `sessions`, `calls`, with the frame or the fact as `detail`. */
export class Link extends EventTarget {
  connected = false;
  /** Why not, once that is known: a key of `REASONS`. */
  reason = null;
  core = null;
  sessions = [];
  #coreUrl;
  #socket = null;
  #withArguments = false;
  #requests = new Map();
  #lastRequest = 0;
  #retryMs = FIRST_RETRY_MS;
  #timer = 0;
  #closed = true;

  constructor(coreUrl) {
    super();
    this.#coreUrl = coreUrl;
  }

  open() {
    this.#closed = false;
    this.#connect();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  /** Hear of calls with their arguments from now on, or without. */
  watchArguments(wanted) {
    this.#withArguments = wanted;
    this.#send({ type: "watch", arguments: wanted });
  }

  tools(threadId) {
    return this.#request({ type: "tools", threadId }).answer;
  }

  result(invocationId) {
    return this.#request({ type: "result", invocationId }).answer;
  }

  acknowledge(invocationId) {
    this.#send({ type: "acknowledge", invocationId });
  }

  /**
   * Call a tool as an agent does. `argsText` is sent as it stands.
   * `onEvent` hears its `progress`, and that it is `waiting` for a person and has `resumed`, as Core's frames.
   * Returns `{started, answer, cancel}`: promises of the invocation's id and of the answer's line, and a function.
   */
  call({ threadId, tool, argsText, timeoutMs, onEvent }) {
    const request = this.#request({ type: "call", threadId, tool, argsText, timeoutMs }, onEvent);
    return { ...request, cancel: () => this.#send({ type: "cancel", requestId: request.requestId }) };
  }

  #request(frame, onEvent = () => {}) {
    const requestId = `q${++this.#lastRequest}`;
    const started = Promise.withResolvers();
    const answer = Promise.withResolvers();
    for (const each of [started, answer]) each.promise.catch(() => {});
    if (!this.#send({ ...frame, requestId })) {
      answer.reject(new Error("Core is not connected."));
    } else {
      this.#requests.set(requestId, { started, answer, onEvent });
    }
    return { requestId, started: started.promise, answer: answer.promise };
  }

  #send(frame) {
    if (!this.connected) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  #connect() {
    const socket = (this.#socket = new WebSocket(new URL("/inspect", this.#coreUrl).href.replace(/^http/, "ws")));
    socket.addEventListener("open", () => {
      this.connected = true;
      this.reason = null;
      this.#retryMs = FIRST_RETRY_MS;
      this.#send({ type: "watch", arguments: this.#withArguments });
      this.#tell("state", true);
    });
    socket.addEventListener("message", ({ data }) => this.#received(JSON.parse(data)));
    socket.addEventListener("close", () => this.#lost());
  }

  #lost() {
    const lost = new Error("The connection to Core was lost. The call may go on: look at the timeline.");
    for (const { started, answer } of this.#requests.values()) {
      started.reject(lost);
      answer.reject(lost);
    }
    this.#requests.clear();
    this.connected = false;
    this.sessions = [];
    this.#tell("state", false);
    if (this.#closed) return;
    this.#findReason();
    this.#timer = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
  }

  async #findReason() {
    const reason = await whyNotConnected(this.#coreUrl);
    if (this.connected || reason === this.reason) return;
    this.reason = reason;
    this.#tell("state", false);
  }

  #received(frame) {
    const request = this.#requests.get(frame.requestId);
    if (frame.type === "started") request?.started.resolve(frame.invocationId);
    else if (CALL_EVENTS.has(frame.type)) request?.onEvent(frame);
    else if (frame.type === "answer") {
      this.#requests.delete(frame.requestId);
      request?.started.reject(new Error("The call was refused."));
      request?.answer.resolve(frame.line);
    } else {
      if (frame.type === "core") this.core = frame;
      if (frame.type === "sessions") this.sessions = frame.sessions;
      this.#tell(frame.type, frame);
    }
  }

  #tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }
}
