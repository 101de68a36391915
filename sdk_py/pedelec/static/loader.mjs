// Brings Python into the page: Pyodide and the SDK, from Core and from nowhere else.
//
// Owns the order of the start, which of its ways it goes, and its progress events. Nothing here outlives the
// start except the `Runtime` that it hands back.

import { Bundle, checkWebAssembly, unavailable } from "./bundle.mjs";
import { page } from "./page.mjs";
import { startFromSnapshot, startPlainly } from "./python.mjs";

const attached = new WeakMap();

/**
 * Start Python from Core's bundle, with the SDK in it, and hand back the runtime.
 *
 * @param {Promise<Function> | null} choice what `chooseSnapshot` returns; null: without a memory snapshot, even where
 *     there is one
 */
export async function boot(choice) {
  checkWebAssembly();
  const coming = Bundle.fetch(page.coreUrl); // first, for everything else waits for it
  const face = fetchFace();
  return runtimeOf(await start(await coming, choice), await face);
}

/** The modules that are of use once there is a Python. */
function fetchFace() {
  const modules = ["bridge", "content", "recovery", "scripts"].map((name) => import(`./${name}.mjs`));
  const face = Promise.all(modules).then((all) => Object.assign({}, ...all));
  face.catch(() => {}); // told where it is needed
  return face;
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
  const face = fetchFace();
  report("sdk", 0, 1);
  if (!hasSdk(pyodide)) {
    // Not with micropip: the page's own Pyodide would fetch that from its own source, which may not be Core.
    const wheel = await bundle.bytes(bundle.sdkFor(pyodide.version));
    pyodide.unpackArchive(wheel, "wheel");
  }
  report("sdk", 1, 1);
  return runtimeOf(pyodide, await face);
}

// What Python has imported stays: another wheel on top of it would be half of each.
function hasSdk(pyodide) {
  const version = pyodide.runPython("getattr(__import__('sys').modules.get('pedelec'), '__version__', '')");
  if (version === "" || version === page.version) return version !== "";
  const difference = `This Python uses version ${version} of the SDK, Core at ${page.coreUrl} has ${page.version}.`;
  throw unavailable(`${difference} Install the SDK from that Core, and restart this Python.`);
}

function runtimeOf(pyodide, { connect, kitOf, contentOf, runScripts }) {
  const { bridge, openClient } = connect(pyodide);
  return { openClient, kit: { ...kitOf(bridge), ...contentOf(bridge) }, runScripts: () => runScripts(pyodide, bridge) };
}
