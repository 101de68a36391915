// Runs the page's `<script type="text/pedelec">` elements.
//
// Owns their order (that of the document, each after the one before has finished), their names in tracebacks,
// and how one that fails is told. Runs each element once, at whatever time it was added; they share one
// namespace.

import { page } from "./page.mjs";

const SELECTOR = 'script[type="text/pedelec"]';
const quiet = { messageCallback: () => {} };

/** Run the scripts that the document has now or gets later. Resolves when those it has now have run. */
export async function runScripts(pyodide, bridge) {
  await parsed();
  const queue = new Queue(pyodide, bridge);
  queue.take(document.querySelectorAll(SELECTOR));
  new MutationObserver((records) => queue.take(records.flatMap(addedScripts))).observe(document, {
    childList: true,
    subtree: true,
  });
  return queue.drained;
}

function parsed() {
  if (document.readyState !== "loading") return undefined;
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

function addedScripts({ addedNodes }) {
  return [...addedNodes].flatMap((node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return [];
    return node.matches(SELECTOR) ? [node] : [...node.querySelectorAll(SELECTOR)];
  });
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
    const packages = (element.dataset.packages ?? "").split(/\s+/).filter(Boolean);
    if (element.src !== "") {
      const source = fetchSource(element.src);
      source.catch(() => {}); // told when its turn comes
      return { name: element.src, source, packages };
    }
    this.#inline += 1;
    const name = `inline script ${this.#inline} of ${location.origin}${location.pathname}`;
    return { name, source: Promise.resolve(element.textContent), packages };
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
    const { typed } = this.#bridge.call("inspect_script", { source });
    if (typed) await this.#pyodide.loadPackage("pydantic", quiet);
    await this.#pyodide.loadPackagesFromImports(source, quiet);
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
