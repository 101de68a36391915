// Brings Python into the page: Pyodide and the SDK, from Core and from nowhere else.
//
// Owns the order of the start, its progress events and what a failed step is called. Nothing here outlives
// the start except the `Runtime` that it hands back.

import { checkWebAssembly, fetchManifest, fetchVerified, sizeOf, unavailable } from "./bundle.mjs";
import { connect } from "./bridge.mjs";
import { contentOf } from "./content.mjs";
import { page } from "./page.mjs";
import { kitOf } from "./recovery.mjs";
import { runScripts } from "./scripts.mjs";

const RUNTIME_FILES = [
  "pyodide-lock.json",
  "pyodide.asm.mjs",
  "pyodide.asm.wasm",
  "pyodide.mjs",
  "python_stdlib.zip",
];
const attached = new WeakMap();

const coreUrl = (path) => new URL(path, page.coreUrl).href;
const report = (stage, loaded, total) => page.announce("progress", { stage, loaded, total });

/** Start Pyodide from Core's bundle, install the SDK, and hand back the runtime. */
export async function boot() {
  checkWebAssembly();
  const manifest = await fetchManifest(coreUrl("runtime/manifest.json"));
  await downloadRuntime(manifest);
  const pyodide = await startPyodide();
  await installWithMicropip(pyodide, manifest);
  return runtimeOf(pyodide);
}

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
  const manifest = await fetchManifest(coreUrl("runtime/manifest.json"));
  report("sdk", 0, 1);
  const file = `wheels/${manifest.sdkWheel}`;
  // Not with micropip: the page's own Pyodide would fetch that from its own source, which may not be Core.
  const wheel = await fetchVerified(coreUrl(file), manifest.files[file], () => {});
  pyodide.unpackArchive(wheel.buffer, "wheel");
  report("sdk", 1, 1);
  return runtimeOf(pyodide);
}

function runtimeOf(pyodide) {
  const { bridge, openClient } = connect(pyodide);
  return { openClient, kit: { ...kitOf(bridge), ...contentOf(bridge) }, runScripts: () => runScripts(pyodide, bridge) };
}

// Pyodide downloads these files itself, later, from the browser's cache. Fetching them first gives the bytes
// of the progress and finds what is missing or damaged: Pyodide waits for ever for a WebAssembly file that
// does not compile.
async function downloadRuntime(manifest) {
  const files = [...RUNTIME_FILES.map((file) => `runtime/${file}`), `wheels/${manifest.sdkWheel}`];
  const total = files.reduce((sum, file) => sum + sizeOf(manifest.files[file]), 0);
  let loaded = 0;
  const advance = (bytes) => {
    loaded += bytes;
    report("runtime", loaded, total);
  };
  advance(0);
  await Promise.all(files.map((file) => fetchVerified(coreUrl(file), manifest.files[file], advance)));
}

async function startPyodide() {
  report("python", 0, 1);
  try {
    const { loadPyodide } = await import(coreUrl("runtime/pyodide.mjs"));
    const pyodide = await loadPyodide({ indexURL: coreUrl("runtime/") });
    report("python", 1, 1);
    return pyodide;
  } catch (error) {
    throw unavailable("Python did not start in this page.", error);
  }
}

async function installWithMicropip(pyodide, manifest) {
  report("packages", 0, 1);
  try {
    await pyodide.loadPackage("micropip", { messageCallback: () => {} });
    report("packages", 1, 1);
    report("sdk", 0, 1);
    const micropip = pyodide.pyimport("micropip");
    await micropip.install.callKwargs(coreUrl(`wheels/${manifest.sdkWheel}`), { deps: false });
    micropip.destroy();
    report("sdk", 1, 1);
  } catch (error) {
    throw unavailable("The SDK could not be installed from Core's bundle.", error);
  }
}
