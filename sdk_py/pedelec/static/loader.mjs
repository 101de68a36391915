// Brings Python into the page: Pyodide and the SDK, from Core and from nowhere else.
//
// Owns the order of the start, which of its ways it goes, and its progress events. Nothing here outlives the
// start except the `Runtime` that it hands back.

import { Bundle, checkWebAssembly } from "./bundle.mjs";
import { connect } from "./bridge.mjs";
import { contentOf } from "./content.mjs";
import { page } from "./page.mjs";
import { startFromSnapshot, startPlainly } from "./python.mjs";
import { kitOf } from "./recovery.mjs";
import { runScripts } from "./scripts.mjs";

const attached = new WeakMap();

/**
 * Start Python from Core's bundle, with the SDK in it, and hand back the runtime.
 *
 * @param {boolean} plainly without the memory snapshot, even where there is one
 */
export async function boot(plainly) {
  checkWebAssembly();
  const choice = plainly ? null : beginChoice();
  const bundle = await Bundle.fetch(page.coreUrl);
  return runtimeOf(await start(bundle, choice));
}

function beginChoice() {
  const choice = import("./choice.mjs").then(({ chooseSnapshot }) => chooseSnapshot());
  choice.catch(() => {}); // told where it is needed
  return choice;
}

async function start(bundle, choice) {
  let reason = choice === null ? "the page asked for it" : bundle.snapshotMissing;
  if (reason === null) {
    try {
      return await wakeUp(bundle, choice);
    } catch (error) {
      reason = [error.message, error.details?.cause].filter(Boolean).join(" ");
      console.warn(`[pedelec] Python starts the slow way: ${reason}`);
    }
  }
  return startPlainly(bundle, reporting("plain", reason, null));
}

function wakeUp(bundle, choice) {
  let snapshot = null; // until it is chosen
  const choose = async (rest) => (snapshot = await (await choice)(rest));
  const report = (...how) => reporting("snapshot", null, snapshot)(...how);
  return startFromSnapshot(bundle, choose, report);
}

const reporting = (path, reason, snapshot) => (stage, loaded, total) =>
  page.announce("progress", { stage, loaded, total, path, reason, snapshot });

/** Install the SDK into a Pyodide that the page runs already. Called again for one, gives the same runtime. */
export function attach(pyodide) {
  if (!attached.has(pyodide)) {
    const runtime = attachOnce(pyodide);
    attached.set(pyodide, runtime);
    runtime.catch(() => attached.delete(pyodide)); // so that it can be tried again
  }
  return attached.get(pyodide);
}

async function attachOnce(pyodide) {
  const report = reporting("attach", null, null);
  const bundle = await Bundle.fetch(page.coreUrl);
  report("sdk", 0, 1);
  // Not with micropip: the page's own Pyodide would fetch that from its own source, which may not be Core.
  const wheel = await bundle.bytes(bundle.sdkFor(pyodide.version));
  pyodide.unpackArchive(wheel, "wheel");
  report("sdk", 1, 1);
  return runtimeOf(pyodide);
}

function runtimeOf(pyodide) {
  const { bridge, openClient } = connect(pyodide);
  return { openClient, kit: { ...kitOf(bridge), ...contentOf(bridge) }, runScripts: () => runScripts(pyodide, bridge) };
}
