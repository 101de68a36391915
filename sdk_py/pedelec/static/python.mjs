// Starts Pyodide, from a memory snapshot or from nothing, each file fetched once and all of them side by side.
//
// Owns what Pyodide would otherwise fetch by itself, later and one after the other, and without an end: it waits for
// ever for a WebAssembly file that does not compile.

import { unavailable } from "./bundle.mjs";
import { NOTHING_YET, restore, wake } from "./restore.mjs";

const WASM = "runtime/pyodide.asm.wasm";
const STDLIB = "runtime/python_stdlib.zip";
const LOCK = "runtime/pyodide-lock.json";
const FACTORY = "runtime/pyodide.asm.mjs";
const LOADER = "runtime/pyodide.mjs";
const PYODIDE = [WASM, STDLIB, LOCK, FACTORY, LOADER];
const EMPTY_WASM = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Start Python and install the SDK. `report(stage, loaded, total)` is told how far it is. */
export async function startPlainly(bundle, report) {
  const arrivals = new Arrivals(bundle, [...PYODIDE, bundle.sdk], report);
  const own = fetchPyodide(arrivals);
  const wheel = arrivals.bytes(bundle.sdk);
  const pyodide = await startPyodide(bundle, own, arrivals, report, { whole: settled(arrivals.all) });
  report("sdk", 0, 1);
  pyodide.unpackArchive(await wheel, "wheel");
  report("sdk", 1, 1);
  return pyodide;
}

/**
 * Wake up the Python of one of the bundle's snapshots, which has the SDK in it.
 *
 * Rejects where anything does not match, or does not work; nothing of it is left then.
 *
 * @param {Bundle} bundle
 * @param {(rest: Promise<unknown>) => Promise<"full" | "light">} choose which one; `rest` is all else that is needed
 * @param {(stage: string, loaded: number, total: number) => void} report told how far it is
 */
export async function startFromSnapshot(bundle, choose, report) {
  const filesOf = (snapshot) => [...PYODIDE, ...Object.values(snapshot).flat()];
  const arrivals = new Arrivals(bundle, filesOf(bundle.snapshot("full")), report); // until it is known, the bigger one
  const own = fetchPyodide(arrivals);
  const fetched = settled(
    choose(arrivals.all).then((choice) => {
      const snapshot = bundle.snapshot(choice);
      arrivals.reckonWith(filesOf(snapshot));
      return fetchSnapshot(arrivals, snapshot);
    }),
  );
  const pyodide = await startPyodide(bundle, own, arrivals, report, {
    whole: fetched,
    prepare: async (module, settings) => {
      const { record, parts, libraries } = await fetched;
      restore(module, settings, record, parts, libraries);
    },
    _loadSnapshot: NOTHING_YET,
  });
  report("sdk", 0, 1);
  const { record, files } = await fetched;
  wake(pyodide, record, files, navigator.language);
  report("sdk", 1, 1);
  return pyodide;
}

/** What every start needs. */
function fetchPyodide(arrivals) {
  return {
    wasm: arrivals.compiled(WASM),
    stdlib: arrivals.response(STDLIB),
    lock: arrivals.json(LOCK),
    loader: arrivals.module(LOADER),
    factory: arrivals.module(FACTORY),
  };
}

/** What a snapshot consists of. */
async function fetchSnapshot(arrivals, { record, parts, files, libraries }) {
  const coming = [
    arrivals.json(record),
    Promise.all(parts.map((file) => arrivals.bytes(file))),
    Promise.all(files.map((file) => arrivals.bytes(file))),
    Promise.all(libraries.map((file) => arrivals.compiled(file))),
  ];
  const [read, memory, site, compiled] = await Promise.all(coming);
  return { record: read, parts: memory, files: site, libraries: compiled };
}

// The module is made as soon as it can be, while the rest, and Python's memory above all, may be on its way. `whole`:
// when that is here; `prepare`: what is done with the module then.
async function startPyodide(bundle, own, arrivals, report, { whole, prepare = () => {}, ...options }) {
  const { wasm, stdlib } = own;
  const [{ loadPyodide }, factory, lock] = await Promise.all([own.loader, own.factory, own.lock]);
  const createModule = onOneStack(factory.default);
  const failure = Promise.withResolvers();
  const indexURL = bundle.plainUrl("runtime/");
  const lent = new Map([
    [`${indexURL}pyodide.asm.wasm`, new Response(EMPTY_WASM, { headers: { "Content-Type": "application/wasm" } })],
    [`${indexURL}python_stdlib.zip`, await stdlib],
  ]);
  const takeBack = lend(lent);
  try {
    const started = loadPyodide({
      ...options,
      indexURL,
      packageBaseUrl: indexURL,
      lockFileContents: lock,
      createPyodideModule: async (settings) => {
        settings.instantiateWasm = instantiating(settings.instantiateWasm, wasm, failure.reject);
        const module = await createModule(settings);
        await whole;
        report("python", 0, 1);
        await prepare(module, settings);
        return module;
      },
    });
    const pyodide = await Promise.race([started, failure.promise]);
    forget(pyodide);
    report("python", 1, 1);
    return pyodide;
  } catch (error) {
    throw arrivals.failure ?? unavailable("Python did not start in this page.", error);
  } finally {
    takeBack();
  }
}

// Where the browser can give Python stacks of its own (JSPI), Pyodide runs each callback of the event loop on one, for
// the sake of `run_sync`. Chromium 156 has crashed there, its garbage collector having read past the end of such a
// stack. Pyodide looks for the ability as soon as it is called.
const onOneStack = (factory) => (settings) => {
  const ability = Object.getOwnPropertyDescriptor(WebAssembly, "Suspending");
  delete WebAssembly.Suspending;
  try {
    return factory(settings);
  } finally {
    if (ability !== undefined) Object.defineProperty(WebAssembly, "Suspending", ability);
  }
};

// Pyodide keeps its options for good, and through them all that was fetched for its start, the memory twice.
function forget({ _api: { config } }) {
  config._loadSnapshot = undefined;
  config.createPyodideModule = undefined;
}

// Pyodide completes the imports, then instantiates what it was lent; the true module is compiled already.
const instantiating = (original, wasm, fail) => (imports, received) =>
  original(imports, () => {
    wasm
      .then(async (module) => received(await WebAssembly.instantiate(module, imports), module))
      .catch(fail);
  });

// Pyodide fetches these as soon as it is called. They are here: it gets them, and the page its `fetch` back.
function lend(responses) {
  const { fetch } = globalThis;
  const lending = (resource, options) => {
    const url = String(resource?.url ?? resource);
    const response = responses.get(url);
    if (response === undefined) return fetch(resource, options);
    responses.delete(url);
    if (responses.size === 0) takeBack();
    return Promise.resolve(response);
  };
  const takeBack = () => {
    if (globalThis.fetch === lending) globalThis.fetch = fetch;
  };
  globalThis.fetch = lending;
  return takeBack;
}

/** A promise whose rejection is told where it is awaited, not before. */
function settled(promise) {
  promise.catch(() => {});
  return promise;
}

/** The files of one start on their way, and how many of their bytes have come. */
class Arrivals {
  #bundle;
  #report;
  #total;
  #loaded = 0;
  #coming = [];

  /** Why the first file that is not to be had is not; null while there is none. */
  failure = null;

  constructor(bundle, files, report) {
    this.#bundle = bundle;
    this.#report = report;
    this.reckonWith(files);
  }

  /** Let these files be all that are to come. */
  reckonWith(files) {
    this.#total = files.reduce((sum, file) => sum + this.#bundle.sizeOf(file), 0);
    this.#advance(0);
  }

  /** Resolves when all that was asked for is here, rejects with the first that is not to be had. */
  get all() {
    return Promise.all(this.#coming);
  }

  bytes(file) {
    return this.#expect(this.#bundle.bytes(file, (bytes) => this.#advance(bytes)));
  }

  json(file) {
    return this.#whole(file, async () => (await this.#bundle.response(file)).json());
  }

  module(file) {
    return this.#whole(file, () => this.#bundle.module(file));
  }

  /** A response whose body is here. */
  response(file) {
    return this.#expect(this.#bundle.bytes(file, (bytes) => this.#advance(bytes)).then((bytes) => new Response(bytes)));
  }

  compiled(file) {
    return this.#whole(file, async () => {
      const response = await this.#bundle.response(file);
      return WebAssembly.compileStreaming(response).catch((error) => {
        throw this.#bundle.broken(file, error);
      });
    });
  }

  #whole(file, fetchIt) {
    const arrived = async () => {
      const here = await fetchIt();
      this.#advance(this.#bundle.sizeOf(file));
      return here;
    };
    return this.#expect(arrived());
  }

  #expect(promise) {
    this.#coming.push(promise);
    promise.catch((error) => (this.failure ??= error));
    return promise;
  }

  #advance(bytes) {
    this.#loaded += bytes;
    this.#report("runtime", this.#loaded, this.#total);
  }
}
