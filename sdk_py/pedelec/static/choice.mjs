// Chooses the memory snapshot that a page's Python wakes up from: `full` has pydantic in it, `light` costs less memory.
//
// Owns the look at the page's scripts and how long that may take. It is a guess by the text: a page that needs
// pydantic after all gets it on top of `light`, as any package, and is only slower.

import { packagesOf, scriptsSoFar, sourceOf, watchScripts } from "./scripts.mjs";

const PATIENCE_MS = 1000;
const TYPED = [
  /\bpydantic\b/,
  /\bpedelec\s*\.\s*tool\b/,
  /@\s*(?:\w+\s*\.\s*)?tool\b/,
  /\bfrom\s+pedelec\s+import\s*(?:\*|\([^)]*\btool\b|(?:[^\n\\]|\\\r?\n)*\btool\b)/,
];

/** Whether a script looks as if it used typed tools, or pydantic itself. */
export const looksTyped = (source) => TYPED.some((pattern) => pattern.test(source));

/**
 * Begin to look: it will be `full` as soon as one script is seen that looks as if it needed that; `light` once there is
 * none.
 *
 * @returns {(rest: Promise<unknown>) => Promise<"full" | "light">} waits for the choice, but for no document or source
 *     that does not come to its end longer than for the rest that the start needs, and a second
 */
export function chooseSnapshot() {
  if (globalThis.document === undefined) return async () => "light"; // a worker has no such scripts
  const { promise, resolve } = Promise.withResolvers();
  const look = async (element) => {
    if (looksTyped(await sourceOf(element)) || packagesOf(element).some(looksTyped)) resolve("full");
  };
  const lookAtAll = (elements) => Promise.allSettled(elements.map(look));
  const stop = watchScripts(lookAtAll);
  lookAtAll(scriptsSoFar());
  const whole = parsed().then(() => lookAtAll(scriptsSoFar())); // again: what was seen before may have been half of it
  const patience = new Promise((out) => setTimeout(out, PATIENCE_MS));
  whole.then(() => resolve("light"));
  promise.then(stop);
  return (rest) => {
    const enough = Promise.all([patience, rest]).catch(() => {}); // that it failed is told where it is needed
    enough.then(() => resolve("light"));
    return promise;
  };
}

// Deferred scripts may not have run by then.
function parsed() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("readystatechange", resolve, { once: true }));
}
