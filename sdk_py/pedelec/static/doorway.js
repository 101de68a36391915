// The way to Core for a page of another origin: asks to be let in, and tells what stands in the way.
//
// Owns what such a page says before Python is there, and how a page finds out why it does not reach Core. A classic
// script, since of Core's files an origin that is not approved gets only those that a plain tag loads. Whether an
// origin is let in is decided by Core.

(() => {
  const { PedelecError, announce, policyAgainst } = globalThis[Symbol.for("pedelec.page")];
  const PERMISSIONS = ["loopback-network", "local-network-access"]; // the newer and the older name
  const PROBE_MS = 5_000;
  const PROMPT_MS = 120_000;
  const DISMISSED_MS = 1_500; // a refused connection takes some milliseconds, a person longer
  const GESTURES = ["pointerup", "keydown", "touchend"];
  const PROTOCOL = 1;

  const failure = (fields) => new PedelecError({ retryable: false, ...fields });

  function unavailable(coreUrl) {
    return failure({
      code: "CORE_RUNTIME_UNAVAILABLE",
      class: "userInput",
      message: `Core at ${coreUrl} cannot be reached: it does not run, or runs elsewhere.`,
      recoverySteps: ["Start it with `pedelec-core serve`, then try again."],
      effects: "none",
    });
  }

  function networkDenied(coreUrl, why) {
    return failure({
      code: "LOCAL_NETWORK_DENIED",
      class: "userInput",
      message: `The browser does not let ${location.origin} reach Core at ${coreUrl}: ${why}.`,
      recoverySteps: [
        "Ask the user to allow “apps on device” (or “local network”) in the page's site settings.",
        "Then reload the page.",
      ],
      effects: "none",
      details: { page: location.origin },
    });
  }

  function notApproved(coreUrl) {
    return failure({
      code: "CREATE_SESSION_NOT_APPROVED",
      class: "userInput",
      message: `Core runs at ${coreUrl} and does not let pages of ${location.origin} in.`,
      recoverySteps: [
        `Ask the user whether to let it in; if so, the user runs: pedelec-core approve ${location.origin}`,
      ],
      effects: "none",
      details: { origin: location.origin },
    });
  }

  /** `granted`, `prompt` or `denied`; null where the browser does not ask people about this. */
  async function permission() {
    for (const name of PERMISSIONS) {
      try {
        return (await navigator.permissions.query({ name })).state;
      } catch {
        continue; // a name that it does not know
      }
    }
    return null;
  }

  // Of a request without CORS nothing can be read, only whether there was an answer. A browser that asks the person
  // first holds it back meanwhile.
  async function answers(coreUrl, limitMs) {
    const options = { mode: "no-cors", cache: "no-store", credentials: "omit" };
    try {
      await fetch(`${coreUrl}/healthz`, { ...options, signal: AbortSignal.timeout(limitMs) });
      return true;
    } catch {
      return false;
    }
  }

  /** Why this page does not reach Core, as an error. */
  async function explain(coreUrl) {
    const before = await permission();
    if (before === "prompt" && waiting > 0) return networkDenied(coreUrl, "nobody has been asked yet, click the page");
    const started = performance.now();
    const isThere = await answers(coreUrl, before === "prompt" ? PROMPT_MS : PROBE_MS);
    const tookMs = performance.now() - started;
    const policy = await policyAgainst(coreUrl);
    if (policy !== null) return policy;
    if (isThere) return notApproved(coreUrl);
    const after = await permission();
    if (after === "denied") return networkDenied(coreUrl, "access to apps on this device is blocked for it");
    if (after === "prompt" && tookMs > DISMISSED_MS) return networkDenied(coreUrl, "the question was not answered");
    return unavailable(coreUrl);
  }

  const isLoopback = ({ hostname }) => /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.*\.localhost)$/.test(hostname);
  let waiting = 0;

  /**
   * Wait, where the browser would ask the person, until the person does something on the page: a question out of
   * nowhere is refused. Null where there is nothing to wait for; in a worker nobody does anything.
   */
  function invitation(coreUrl) {
    if (globalThis.document === undefined) return null;
    const isAsked = globalThis.isSecureContext && !isLoopback(location) && location.origin !== coreUrl;
    return isAsked && globalThis.navigator.userActivation?.isActive !== true ? gesture() : null;
  }

  async function gesture() {
    if ((await permission()) !== "prompt") return;
    announce("progress", { stage: "permission", loaded: 0, total: 1 });
    const listening = new AbortController();
    waiting += 1;
    await new Promise((resolve) => {
      const options = { capture: true, signal: listening.signal };
      for (const kind of GESTURES) addEventListener(kind, resolve, options);
    });
    waiting -= 1;
    listening.abort();
    announce("progress", { stage: "permission", loaded: 1, total: 1 });
  }

  /**
   * Have this page's origin let in.
   *
   * @param {string} coreUrl
   * @param {{tools: object[], appName?: string, onMore: (tell: () => void) => void}} claim what the page says of
   *   itself so far; `onMore` is given what to call when there is more
   * @throws {PedelecError} it is not let in, or Core cannot be reached
   */
  async function enter(coreUrl, claim) {
    const asking = new Asking(coreUrl, claim);
    try {
      await asking.outcome;
    } catch (error) {
      throw error instanceof PedelecError ? error : await explain(coreUrl);
    } finally {
      asking.close();
    }
  }

  class Asking {
    #claim;
    #socket;
    #settle;
    #lastId = 0;
    #waits = false;

    constructor(coreUrl, claim) {
      this.#claim = claim;
      this.#settle = Promise.withResolvers();
      this.outcome = this.#settle.promise;
      try {
        this.#socket = new WebSocket(`${coreUrl.replace("http", "ws")}/page`);
      } catch (error) {
        this.#settle.reject(error); // the page's policy may forbid it
        return;
      }
      this.#socket.addEventListener("open", () => this.#greet());
      this.#socket.addEventListener("message", ({ data }) => this.#hear(JSON.parse(data)));
      // Where the page's policy forbids it, Chromium tells of the error alone.
      for (const end of ["close", "error"]) {
        this.#socket.addEventListener(end, () => this.#settle.reject(new Error(end)));
      }
      claim.onMore(() => this.#waits && this.#ask());
    }

    close() {
      this.#claim.onMore(() => {});
      this.#socket?.close();
    }

    #send(message) {
      this.#socket.send(JSON.stringify(message));
    }

    #greet() {
      const pageInstanceId = crypto.getRandomValues(new Uint32Array(4)).join("-");
      this.#send({ type: "hello", protocol: PROTOCOL, pageInstanceId, sdkVersion: "" });
      this.#ask();
    }

    #ask() {
      const { tools, appName = globalThis.document?.title } = this.#claim;
      const described = tools.map(({ name, description }) => ({ name, description }));
      this.#send({ type: "request_approval", requestId: `a${++this.#lastId}`, tools: described, appName });
    }

    #hear(message) {
      if (message.type === "ping") this.#send({ type: "pong", id: message.id });
      if (message.type === "approval_pending" && !this.#waits) {
        this.#waits = true;
        announce("progress", { stage: "approval", loaded: 0, total: 1 });
      }
      if (message.type === "error") this.#settle.reject(new PedelecError(message.error));
      if (message.type !== "response") return;
      if (!message.ok) this.#settle.reject(new PedelecError(message.error));
      else {
        if (this.#waits) announce("progress", { stage: "approval", loaded: 1, total: 1 });
        this.#settle.resolve();
      }
    }
  }

  globalThis[Symbol.for("pedelec.doorway")] = Object.freeze({ enter, explain, invitation });
})();
