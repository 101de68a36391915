// The loader behind the `<script>` tag. Runs as a classic script, as a module, and by import().
//
// Owns what a page has at once: `globalThis.pedelec`, the client class whose methods wait for Python, and the
// start of the runtime. Everything bigger is in modules beside it, which it imports. A second copy of it does
// nothing.

(() => {
  const VERSION = "0.1.0";
  const PAGE = Symbol.for("pedelec.page");
  const MOMENT_MS = 100;
  const SCRIPTS = 'script[type="text/pedelec"]';
  // Core puts in which modules they are, so that the browser need not ask again for those that it has.
  const MODULES = "sdk/";

  class PedelecError extends Error {
    /** @param {{code: string, message: string}} envelope with all else that the error tells */
    constructor(envelope) {
      super(envelope.message);
      // Own and enumerable, as on the plain objects of the TypeScript SDK: they survive {...error} and JSON,
      // all in the envelope's order, the message too.
      delete this.message;
      Object.assign(this, envelope);
    }

    static {
      this.prototype.name = "PedelecError";
    }
  }

  let kit = null;

  // Errors for agents are made by Python, the same for both languages: from `ready` on.
  function runningKit() {
    if (kit !== null) return kit;
    throw refuse("CORE_RUNTIME_UNAVAILABLE", "Python is not ready in this page yet: wait for `pedelec.ready`.");
  }

  class ToolError extends PedelecError {
    static retryable(code, message, fields) {
      return runningKit().toolError("retryable", { ...fields, code, message });
    }

    static permanent(code, message, fields) {
      return runningKit().toolError("permanent", { ...fields, code, message });
    }

    static userInput(code, message, fields) {
      return runningKit().toolError("userInput", { ...fields, code, message });
    }

    static authRequired(code, message, fields) {
      return runningKit().toolError("authRequired", { ...fields, code, message });
    }

    static notConfigured(what, how, fields) {
      return runningKit().toolError("notConfigured", { ...fields, what, how });
    }

    static {
      this.prototype.name = "ToolError";
    }
  }

  const ofKit = (names) =>
    Object.fromEntries(names.map((name) => [name, (...given) => runningKit()[name](...given)]));
  const recovery = Object.freeze(
    ofKit(["chooseOne", "firstThatWorks", "gatherParts", "requireVersion", "staleCall", "upstreamError"]),
  );

  const refuse = (code, message, details) =>
    new PedelecError(details === undefined ? { code, message } : { code, message, details });

  // A module has no document.currentScript; the first frame of a stack names its file in every browser.
  function ownUrl() {
    const tag = globalThis.document?.currentScript?.src;
    const [, frame] = /(https?:\/\/\S*?):\d+:\d+/.exec(new Error().stack ?? "") ?? [];
    const element = globalThis.document?.querySelector('script[src*="/pedelec.js"]');
    return new URL(tag || frame || element?.src || globalThis.location.href);
  }

  const here = ownUrl();
  const former = globalThis[PAGE];
  if (former !== undefined) {
    if (former.coreUrl !== here.origin) {
      console.warn(`[pedelec] ${here} is ignored: the page already uses Pedelec from ${former.coreUrl}.`);
    }
    return;
  }

  const refusals = [];
  const teller = globalThis.document ?? globalThis; // a worker is told itself
  teller.addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective, disposition }) => {
    if (disposition === "enforce") refusals.push({ blockedURI, directive: effectiveDirective });
    if (refusals.length > 100) refusals.shift();
  });

  /** The error for a page whose own policy keeps it from Core; null where that is not what happened. */
  async function policyAgainst(coreUrl) {
    await new Promise((resolve) => setTimeout(resolve, MOMENT_MS)); // the browser tells of it a moment later
    const { host } = new URL(coreUrl);
    const refusal = refusals.findLast(({ blockedURI }) => blockedURI.split("/")[2] === host);
    if (refusal === undefined) return null;
    const { directive, blockedURI } = refusal;
    const sources = directive === "connect-src" ? `http://${host} ws://${host}` : `http://${host}`;
    const remedy = `Add ${sources} to ${directive.replace("-elem", "")} of the policy.`;
    const message = `This page's Content-Security-Policy keeps it from ${blockedURI} (${directive}). ${remedy}`;
    return refuse("CORE_RUNTIME_UNAVAILABLE", message, { directive, blocked: blockedURI });
  }

  const ready = Promise.withResolvers();
  ready.promise.catch(() => {}); // told by fail(); whoever awaits `ready` hears of it there
  let settled = false;
  let runtime = ready.promise;

  const announce = (kind, detail) => globalThis.dispatchEvent(new CustomEvent(`pedelec:${kind}`, { detail }));

  function succeed(started) {
    if (settled) return false;
    settled = true;
    kit = started.kit;
    ready.resolve(started);
    announce("ready");
    return true;
  }

  // A page that is left has its downloads cut off, which is no failure to tell: its timers run no more. They do if
  // the reader comes back to it.
  function fail(error) {
    setTimeout(() => {
      if (settled) return;
      settled = true;
      console.error(`[pedelec] ${error.code}: ${error.message}`);
      ready.reject(error);
      announce("failed", { error, script: null, line: null });
    }, MOMENT_MS);
  }

  // What a page of another origin says of itself while it waits to be let in: all that is known by then.
  const claim = {
    tools: [],
    appName: undefined,
    tell: () => {},
    onMore(tell) {
      this.tell = tell;
    },
  };

  /** The modules' doorway.js, as a plain tag: to other origins Core gives its modules once they are approved. */
  function doorway() {
    const found = globalThis[Symbol.for("pedelec.doorway")];
    if (found !== undefined) return Promise.resolve(found);
    const { href: src } = new URL("sdk/doorway.js", here);
    if (globalThis.document === undefined) return import(src).then(doorway); // a worker has no tags
    return new Promise((resolve, reject) => {
      const element = Object.assign(document.createElement("script"), { src });
      element.addEventListener("load", () => resolve(globalThis[Symbol.for("pedelec.doorway")]));
      element.addEventListener("error", () => reject(new Error(`${element.src} did not load`)));
      document.head.append(element);
    });
  }

  async function enter() {
    if (globalThis.location.origin === here.origin) return;
    const { enter: askToEnter } = await doorway().catch(async (error) => {
      throw (await policyAgainst(here.origin)) ?? refuse("CORE_RUNTIME_UNAVAILABLE", error.message);
    });
    await askToEnter(here.origin, claim);
  }

  async function sdk(module) {
    const url = new URL(`${MODULES}${module}`, here).href;
    try {
      return await import(url);
    } catch (error) {
      const policy = await policyAgainst(here.origin);
      if (policy !== null) throw policy;
      const { origin } = globalThis.location;
      const approval =
        origin === here.origin ? "" : ` Is this origin approved? \`pedelec-core approve ${origin}\``;
      const message = `${url} did not load. Is \`pedelec-core serve\` running?${approval}`;
      throw refuse("CORE_RUNTIME_UNAVAILABLE", message, { cause: String(error) });
    }
  }

  // What a module imports is asked for when the module has come, and the manifest after them all. Here all are known.
  const NEEDED = ["loader", "page", "bundle", "python", "restore", "scripts"];

  /** Have the browser fetch side by side what else it would fetch in turn. */
  function fetchAhead(modules) {
    if (globalThis.document === undefined) return; // a worker has no tags
    const hint = (href, kind) => Object.assign(document.createElement("link"), { href, crossOrigin: "", ...kind });
    const scripts = [...document.querySelectorAll(SCRIPTS)].map(({ src }) => src);
    const texts = [new URL("runtime/manifest.json", here), ...scripts.filter((src) => src !== "")];
    document.head.append(
      ...texts.map((url) => hint(url, { rel: "preload", as: "fetch" })),
      ...modules.map((name) => hint(new URL(`${MODULES}${name}.mjs`, here), { rel: "modulepreload" })),
    );
  }

  async function boot() {
    try {
      await enter();
      const plain = here.searchParams.has("plain");
      fetchAhead(plain ? NEEDED : ["choice", ...NEEDED]);
      // Beside the loader, since it may have to fetch scripts of the page; without it Python starts plainly.
      const choice = plain ? null : sdk("choice.mjs").then((module) => module.chooseSnapshot());
      choice?.catch(() => {}); // told by the loader
      const { boot: bootRuntime } = await sdk("loader.mjs");
      const started = await bootRuntime(choice);
      if (succeed(started)) await started.runScripts();
    } catch (error) {
      fail(error instanceof PedelecError ? error : refuse("CORE_RUNTIME_UNAVAILABLE", String(error)));
    }
  }

  /** Serve the JavaScript face from a Pyodide that the page runs already, with the SDK installed into it. */
  async function attach(pyodide) {
    await enter();
    const { attach: attachRuntime } = await sdk("loader.mjs");
    const started = await attachRuntime(pyodide);
    runtime = Promise.resolve(started);
    kit = started.kit;
    if (succeed(started)) started.runScripts();
  }

  // What of a tool goes to Python; `input` only to be refused there, as the TypeScript SDK does.
  const TOOL_FIELDS = [
    "name",
    "description",
    "argsSchema",
    "title",
    "resultSchema",
    "timeoutMs",
    "readOnly",
    "idempotent",
    "exclusive",
    "untrustedContent",
    "consequential",
    "approval",
    "asks",
    "input",
  ];

  function readTool(tool, index) {
    if (Object(tool) !== tool || Array.isArray(tool)) {
      throw refuse("INVALID_INPUT", `tools[${index}] must be an object.`, { index });
    }
    const fields = Object.fromEntries(TOOL_FIELDS.map((field) => [field, tool[field]]));
    // JSON has no NaN: as text it is refused by Python, as null it would pass for a limit not given.
    if (Number.isNaN(fields.timeoutMs) || Math.abs(fields.timeoutMs) === Infinity)
      fields.timeoutMs = "not finite";
    try {
      return JSON.parse(JSON.stringify(fields));
    } catch (error) {
      const message = `The tool ${String(tool.name)} (tools[${index}]) has no JSON: ${error.message}`;
      throw refuse("INVALID_INPUT", message, { tool: String(tool.name), index, field: "argsSchema" });
    }
  }

  // Read at once, not when Python is ready: what the caller changes meanwhile must not change the session.
  function readSessionInput(input) {
    const given = input ?? {};
    const skills = given.skills ?? given;
    if (Object(skills) !== skills || Array.isArray(skills))
      throw refuse("INVALID_INPUT", "skills must be an object.");
    if (given.skills !== undefined && typeof skills.guidance !== "string") {
      throw refuse("INVALID_INPUT", "skills.guidance must be a string.");
    }
    const tools = skills.tools ?? [];
    if (!Array.isArray(tools) || (given.skills !== undefined && skills.tools === undefined)) {
      throw refuse("INVALID_INPUT", "skills.tools must be an array.");
    }
    const provider = typeof given.provider === "string" ? given.provider.trim() : "";
    if (provider === "" && given.model !== undefined) {
      throw refuse("INVALID_INPUT", "model cannot be provided without provider.");
    }
    return {
      manifest: {
        guidance: skills.guidance ?? "",
        tools: tools.map(readTool),
        autoEndOnDisconnect: given.autoEndOnDisconnect !== false,
        webmcp: given.webmcp ?? false,
      },
      handlers: tools.map((tool) => tool.handler),
      predicates: tools.map(({ consequential }) =>
        typeof consequential === "function" ? consequential : undefined,
      ),
      provider,
      model: typeof given.model === "string" ? given.model : undefined,
    };
  }

  const notBuilt = (name) =>
    refuse("NOT_SUPPORTED", `${name} is not supported: the agent and its model run outside Core.`);

  class Pedelec {
    #client;

    constructor(options = {}) {
      const given = { ...options };
      claim.appName ??= given.appName;
      this.#client = Promise.resolve(runtime).then((started) => started.openClient(given));
      this.#client.catch(() => {}); // each method rejects with it
    }

    async createSession(input) {
      const request = readSessionInput(input);
      claim.tools.push(...request.manifest.tools);
      claim.tell();
      return (await this.#client).createSession(request);
    }

    async resumeSession(sessionId) {
      return (await this.#client).resumeSession(sessionId);
    }

    onQuestion(handler) {
      if (typeof handler !== "function") {
        throw refuse("INVALID_INPUT", "onQuestion takes a function.", { field: "handler" });
      }
      let isGone = false;
      let dispose = () => {};
      const register = (client) => {
        if (!isGone) dispose = client.onQuestion(handler);
      };
      this.#client.then(register).catch(() => {}); // without Python nothing is ever asked
      return () => {
        isGone = true;
        dispose();
      };
    }

    async getApprovalStatus() {
      const client = await this.#client.catch(() => null);
      if (client !== null) return client.getApprovalStatus();
      return { installed: false, approved: false, origin: globalThis.location.origin, appConnected: false };
    }

    async checkAvailability() {
      const approval = await this.getApprovalStatus().catch((error) => ({ installed: true, error }));
      const {
        installed,
        approved = false,
        origin = globalThis.location.origin,
        appConnected = false,
        error,
      } = approval;
      return {
        available: installed && approved && appConnected,
        extension: { available: installed },
        approval: { approved, origin },
        desktop: { available: appConnected, launchAttempted: false },
        ...(error === undefined ? {} : { error }),
      };
    }

    async getSettings() {
      throw notBuilt("getSettings");
    }

    async listProviders() {
      throw notBuilt("listProviders");
    }
  }

  const face = {
    version: VERSION,
    ready: ready.promise.then(() => undefined),
    Pedelec,
    PedelecError,
    ToolError,
    recovery,
    ...ofKit(["image", "audio", "resource", "mixed"]),
    defineTool: (tool) => tool,
    attach,
  };
  face.ready.catch(() => {}); // as above
  globalThis[PAGE] = Object.freeze({
    ...face,
    coreUrl: here.origin,
    scripts: SCRIPTS,
    announce,
    policyAgainst,
    doorway,
  });
  globalThis.pedelec = Object.freeze(face);
  if (!here.searchParams.has("attach")) boot();
})();
