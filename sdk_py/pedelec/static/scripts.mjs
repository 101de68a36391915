// Runs the page's `<script type="text/pedelec">` elements.
//
// Owns how they are found and their order (that of the document, each after the one before has finished), their names
// in tracebacks, and how one that fails is told. Runs each element once, at whatever time it was added; they share one
// namespace. A source is fetched once: what was looked at before Python started is what runs.

import { page } from "./page.mjs";

const fetched = new WeakMap(); // element → { url, source }
const quiet = { messageCallback: () => {} };

/** Run the scripts that the document has now or gets later. Resolves when those it has now have run; a worker has none. */
export async function runScripts(pyodide, bridge) {
  if (globalThis.document === undefined) return undefined;
  await readyToRun();
  const queue = new Queue(pyodide, bridge);
  queue.take(scriptsSoFar());
  watchScripts((elements) => queue.take(elements));
  return queue.drained;
}

// As for scripts that are deferred: when those have run.
function readyToRun() {
  if (document.readyState !== "loading") return undefined;
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

/** The scripts that the document has now, in its order. */
export const scriptsSoFar = () => [...document.querySelectorAll(page.scripts)];

/** Have `take` called with the scripts that come into the document from now on. Returns what ends that. */
export function watchScripts(take) {
  const observer = new MutationObserver((records) => take(records.flatMap(addedScripts)));
  observer.observe(document, { childList: true, subtree: true });
  return () => observer.disconnect();
}

function addedScripts({ addedNodes }) {
  return [...addedNodes].flatMap((node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return [];
    return node.matches(page.scripts) ? [node] : [...node.querySelectorAll(page.scripts)];
  });
}

/** The packages that a script asks for by name. */
export const packagesOf = (element) => (element.dataset.packages ?? "").split(/\s+/).filter(Boolean);

/** The text of a script, as a promise. Of one in the page itself it is what is there now. */
export function sourceOf(element) {
  const url = element.src;
  if (url === "") return Promise.resolve(element.textContent);
  if (fetched.get(element)?.url !== url) {
    const source = fetchSource(url);
    source.catch(() => {}); // told when its turn comes
    fetched.set(element, { url, source });
  }
  return fetched.get(element).source;
}

class Queue {
  drained = Promise.resolve();
  #seen = new WeakSet();
  #inline = 0;
  #known = 0;
  #finished = 0;
  #pyodide;
  #bridge;

  constructor(pyodide, bridge) {
    this.#pyodide = pyodide;
    this.#bridge = bridge;
  }

  take(elements) {
    for (const element of elements) {
      if (this.#seen.has(element)) continue;
      this.#seen.add(element);
      this.#known += 1;
      const script = this.#read(element);
      this.drained = this.drained.then(() => this.#run(script));
    }
  }

  // Sources are fetched at once and side by side; only running waits for its turn.
  #read(element) {
    const script = { name: element.src, source: sourceOf(element), packages: packagesOf(element) };
    if (script.name !== "") return script;
    this.#inline += 1;
    return { ...script, name: `inline script ${this.#inline} of ${location.origin}${location.pathname}` };
  }

  async #run({ name, source, packages }) {
    const report = () =>
      page.announce("progress", { stage: "scripts", loaded: this.#finished, total: this.#known });
    report();
    try {
      const text = await source;
      await this.#load(text, packages);
      const failure = await this.#bridge.request("run_script", { source: text, name });
      if (failure !== null) tellFailure(name, failure);
    } catch (error) {
      tellFailure(name, { type: error.name, message: error.message, line: null, traceback: String(error) });
    }
    this.#finished += 1;
    report();
  }

  async #load(source, packages) {
    const needs = this.#bridge.call("inspect_script", { source });
    if (needs.pydantic) await this.#pyodide.loadPackage("pydantic", quiet);
    if (needs.packages) await this.#pyodide.loadPackagesFromImports(source, quiet);
    if (packages.length === 0) return;
    await this.#pyodide.loadPackage("micropip", quiet);
    await this.#bridge.request("install_packages", { packages });
  }
}

async function fetchSource(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.text();
}

function tellFailure(script, { type, message, line, traceback }) {
  console.error(`[pedelec] ${script} failed${line === null ? "" : ` at line ${line}`}.\n${traceback}`);
  const error = Object.assign(new Error(message), { name: type });
  page.announce("failed", { error, script, line });
}
