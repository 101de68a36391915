// `document.modelContext` for a browser that lacks it. Installed only where a page asks for it.
//
// Owns nothing beyond this document: its tools are seen by its own scripts, not by the browser, nor by other frames.
// Follows https://webmachinelearning.github.io/webmcp/ step by step ("registerTool(tool, options)"), except for what
// a script cannot see: whether the agent cluster is origin-keyed, and the permissions policy. `getTools` and
// `executeTool` are as in Chromium 156.

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** Give a document the API, in secure contexts (as `[SecureContext]` has it) and where it has none. */
export function install(document) {
  if (!globalThis.isSecureContext || document.modelContext !== undefined) return;
  const context = new ModelContext(document);
  const attribute = { get: () => context, enumerable: true, configurable: true };
  Object.defineProperty(document, "modelContext", attribute);
}

class ModelContext extends EventTarget {
  #document;
  #tools = new Map();
  #listener = null;

  constructor(document) {
    super();
    this.#document = document;
  }

  get [Symbol.toStringTag]() {
    return "ModelContext";
  }

  get ontoolchange() {
    return this.#listener;
  }

  set ontoolchange(listener) {
    if (this.#listener !== null) this.removeEventListener("toolchange", this.#listener);
    this.#listener = typeof listener === "function" ? listener : null;
    if (this.#listener !== null) this.addEventListener("toolchange", this.#listener);
  }

  async registerTool(tool, options = {}) {
    const { signal, ...definition } = this.#checked(readTool(tool), readOptions(options));
    this.#tools.set(definition.name, definition);
    return await new Promise((resolve, reject) => {
      const unregister = () => {
        if (this.#tools.get(definition.name) === definition) {
          this.#tools.delete(definition.name);
          queue(() => this.#announce());
        }
        reject(signal.reason);
      };
      signal?.addEventListener("abort", unregister, { once: true });
      queue(() => this.#announce());
      queue(resolve);
    });
  }

  async getTools() {
    const { origin } = this.#document.location;
    const window = this.#document.defaultView;
    const tools = [...this.#tools.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    return tools.map(({ inputSchema, execute, annotations, ...plain }) => ({
      ...plain,
      annotations: annotations && { ...annotations },
      inputSchema: inputSchema === "" ? undefined : JSON.parse(inputSchema),
      origin,
      window,
    }));
  }

  async executeTool(tool, input = {}, { signal } = {}) {
    if (Object(input) !== input) throw new TypeError("invalid input object: value is not an object");
    const copy = JSON.parse(JSON.stringify(input));
    signal?.throwIfAborted();
    const definition = this.#tools.get(tool?.name);
    if (definition === undefined) throw new DOMException(`Tool not found: ${tool?.name}`, "UnknownError");
    const controller = new AbortController();
    const aborted = new Promise((_, reject) => {
      const abort = () => {
        controller.abort();
        reject(signal.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
    });
    return Promise.race([aborted, run(definition, copy, controller.signal)]);
  }

  #checked(tool, options) {
    if (this.#document.defaultView === null) throw new DOMException("Not fully active", "InvalidStateError");
    if (this.#tools.has(tool.name)) throw new DOMException("Duplicate tool name", "InvalidStateError");
    if (tool.description === "") throw new DOMException("Description is required", "InvalidStateError");
    if (!NAME.test(tool.name)) throw new DOMException("Invalid tool name", "InvalidStateError");
    const inputSchema = tool.inputSchema === undefined ? "" : stringified(tool.inputSchema);
    options.signal?.throwIfAborted();
    for (const origin of options.exposedTo) requireTrustworthy(origin);
    return { ...tool, inputSchema, signal: options.signal };
  }

  #announce() {
    this.dispatchEvent(new Event("toolchange"));
  }
}

const queue = (task) => setTimeout(task, 0);

// What Web IDL makes of the dictionaries, in its order (by name).
function readTool(tool) {
  if (tool === undefined || Object(tool) !== tool) throw new TypeError("a tool has to be an object");
  const { annotations, description, execute, inputSchema, name, title } = tool;
  requireMember(description, "description");
  requireMember(execute, "execute");
  if (typeof execute !== "function") throw new TypeError("'execute' is not a function");
  if (inputSchema !== undefined && Object(inputSchema) !== inputSchema)
    throw new TypeError("'inputSchema' is not an object");
  requireMember(name, "name");
  return {
    name: String(name),
    title: title === undefined ? "" : String(title).toWellFormed(),
    description: String(description),
    inputSchema,
    execute,
    annotations: annotations && {
      readOnlyHint: Boolean(annotations.readOnlyHint),
      untrustedContentHint: Boolean(annotations.untrustedContentHint),
      consequentialHint: Boolean(annotations.consequentialHint),
    },
  };
}

function readOptions({ signal, exposedTo = [] }) {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError("'signal' is no AbortSignal");
  return { signal, exposedTo: [...exposedTo] };
}

function requireMember(value, name) {
  if (value === undefined) throw new TypeError(`required member '${name}' is undefined`);
}

function stringified(schema) {
  const text = JSON.stringify(schema);
  if (text === undefined) throw new TypeError("invalid input schema");
  return text;
}

function requireTrustworthy(origin) {
  const url = URL.parse(origin);
  const isLocal = url !== null && (/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname) || url.protocol === "file:");
  if (!isLocal && url?.protocol !== "https:" && url?.protocol !== "wss:")
    throw new DOMException("Only secure origins are allowed in the exposedTo list.", "SecurityError");
}

async function run({ execute }, input, signal) {
  let result;
  try {
    result = await execute(input, { signal });
    if (typeof result === "string") return result;
    return JSON.stringify(result) ?? String(result);
  } catch (error) {
    console.warn("WebMCP tool execution failed:", error);
    throw new DOMException("Tool was executed but the invocation failed.", "UnknownError");
  }
}
