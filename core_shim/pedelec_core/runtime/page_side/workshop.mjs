// A Pyodide under Node for making parts of the bundle, in which the same inputs always give the same bytes.
//
// Owns what is held still for that, since it ends up in what is made: clocks, randomness, and what this process is
// called. Import it before anything that keeps `Date` or `crypto` for itself.

import nodeCrypto from "node:crypto";
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const MOMENT = Date.UTC(1980, 0, 1);

// The last of it: what Node would show first is a line of Pyodide's, a megabyte long.
process.on("uncaughtException", (error) => {
  process.stderr.write(`${String(error?.stack ?? error).slice(-2000)}\n`);
  process.exit(1);
});

class StillDate extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [MOMENT] : given));
  }

  static now() {
    return MOMENT;
  }
}

globalThis.Date = StillDate;
performance.now = () => 0;
process.env.TZ = "UTC";
Object.defineProperty(globalThis.navigator, "language", { value: "en-US", configurable: true });

/** What this program was given. Pyodide takes the rest of the command line for its own. */
export const given = process.argv.splice(2);
process.argv[1] = "python";

// Numerical Recipes' generator: anything that is the same each time will do; what is random in a page is drawn anew.
let state = 1;
const fill = (view) => {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let index = 0; index < bytes.length; index += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return view;
};
Object.defineProperty(globalThis.crypto, "getRandomValues", { value: fill, configurable: true });
nodeCrypto.randomFillSync = fill;

/** Start the Pyodide in a folder. `options` are those of `loadPyodide`. */
export async function startPyodide(folder, options = {}) {
  const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
  // Read here, so that no two reads that Pyodide waits for can overtake each other.
  const lockFileContents = fs.readFileSync(`${folder}/pyodide-lock.json`, "utf8");
  return loadPyodide({ indexURL: `${folder}/`, packageBaseUrl: `${folder}/`, lockFileContents, ...options });
}

/** Run one of the Python files here, in the namespace that `runPython` uses. */
export function runFile(pyodide, name) {
  pyodide.runPython(fs.readFileSync(new URL(name, import.meta.url), "utf8"), { filename: name });
}

/** Tell the process that started this one how far it is. */
export function report(what, done, total) {
  fs.writeSync(1, `${what}\t${done}\t${total}\n`);
}
