// Reads Core's Pyodide bundle: its manifest, and its files by their hashes.
//
// Owns the addresses of the files, and what the page is told when Core or the bundle is missing, damaged or half
// there. Core sends a file under its hash only when it has that hash: nothing needs hashing in the page, and the
// browser keeps it for good.

import { PedelecError, page } from "./page.mjs";

const REBUILD = "Run `pedelec-core runtime build`, then reload the page.";
const VERSION_LENGTH = 16;
const SNAPSHOT = "runtime/snapshot/";

/** The error of a page that gets no Python. */
export function unavailable(message, cause) {
  const details = cause === undefined ? undefined : { cause: String(cause?.message ?? cause) };
  return new PedelecError({ code: "CORE_RUNTIME_UNAVAILABLE", message, ...(details && { details }) });
}

/** Refuse early where the page forbids WebAssembly; Pyodide would wait without an end. */
export function checkWebAssembly() {
  try {
    new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  } catch (error) {
    const remedy = "Add 'wasm-unsafe-eval' to script-src of the page's Content-Security-Policy.";
    throw unavailable(`This page may not run WebAssembly, which Python needs here. ${remedy}`, error);
  }
}

export class Bundle {
  #coreUrl;
  #manifest;

  constructor(coreUrl, manifest) {
    this.#coreUrl = coreUrl;
    this.#manifest = manifest;
  }

  /** The bundle that Core has now. */
  static async fetch(coreUrl) {
    const url = `${coreUrl}/runtime/manifest.json`;
    const response = await get(url);
    const manifest = await response.json().catch(() => null);
    if (typeof manifest?.files !== "object" || typeof manifest.sdkWheel !== "string") {
      throw unavailable(`${url} is damaged. ${REBUILD}`);
    }
    return new Bundle(coreUrl, manifest);
  }

  /** Why there is no memory snapshot; null where there is one. */
  get snapshotMissing() {
    const missing = ["light", "full"].find((kind) => !(this.snapshot(kind).record in this.#manifest.files));
    return missing === undefined ? null : `Core's bundle has no ${missing} memory snapshot`;
  }

  /** The files of a memory snapshot, `light` or `full`; what it has of a kind is numbered. */
  snapshot(kind) {
    const numbered = (stem, suffix) => {
      const names = [];
      for (let name; (name = `${SNAPSHOT}${stem}-${names.length}.${suffix}`) in this.#manifest.files; ) names.push(name);
      return names;
    };
    return {
      record: `${SNAPSHOT}${kind}.json`,
      parts: numbered(kind, "bin"),
      libraries: numbered(`${kind}-library`, "wasm"),
      files: (kind === "light" ? ["light"] : ["light", "full"]).map((name) => `${SNAPSHOT}${name}-files.bin`),
    };
  }

  /** The SDK's wheel for a Pyodide: compiled for the bundle's own. */
  sdkFor(version) {
    const { pyodideVersion, compiledSdkWheel, sdkWheel } = this.#manifest;
    return version === pyodideVersion ? `${SNAPSHOT}${compiledSdkWheel}` : `wheels/${sdkWheel}`;
  }

  /** The SDK's wheel for the Pyodide of the bundle. */
  get sdk() {
    return this.sdkFor(this.#manifest.pyodideVersion);
  }

  /** Where a file is for someone who has no hash, or, with "", the folder of the bundle. */
  plainUrl(file) {
    return `${this.#coreUrl}/${file}`;
  }

  url(file) {
    return `${this.plainUrl(file)}?v=${this.#entry(file).sha256.slice(0, VERSION_LENGTH)}`;
  }

  /** In bytes, as it is before it is compressed for the way; 0 where the bundle lacks it. */
  sizeOf(file) {
    return this.#manifest.files[file]?.size ?? 0;
  }

  async response(file) {
    return get(this.url(file));
  }

  /**
   * A file, whole.
   *
   * @param {string} file
   * @param {(bytes: number) => void} advance told of each piece as it arrives
   * @returns {Promise<Uint8Array>}
   */
  async bytes(file, advance = () => {}) {
    const { size } = this.#entry(file);
    const response = await this.response(file);
    // Into one piece of memory, with a byte more than should come; of small pieces the browser keeps the memory.
    let buffer = new ArrayBuffer(size + 1);
    let received = 0;
    try {
      for (const reader = response.body.getReader({ mode: "byob" }); ;) {
        const { done, value } = await reader.read(new Uint8Array(buffer, received));
        ({ buffer } = value); // each time it is lent to the reader, and comes back as another object
        if (done) break;
        received += value.length;
        if (received > size) throw new RangeError("longer than the manifest says");
        advance(value.length);
      }
    } catch (error) {
      throw this.broken(file, error);
    }
    if (received !== size) throw this.broken(file);
    return new Uint8Array(buffer, 0, size);
  }

  /** A module of the bundle. */
  async module(file) {
    try {
      return await import(this.url(file));
    } catch (error) {
      await this.response(file); // Core may say itself what it lacks
      throw this.broken(file, error);
    }
  }

  /** The error for a file that did not come as it should. */
  broken(file, cause) {
    return unavailable(`${this.plainUrl(file)} did not arrive whole. ${REBUILD}`, cause);
  }

  #entry(file) {
    const entry = this.#manifest.files[file];
    if (entry === undefined) throw unavailable(`Core's bundle has no ${this.plainUrl(file)}. ${REBUILD}`);
    return entry;
  }
}

async function get(url) {
  let response;
  try {
    response = await fetch(url);
  } catch (error) {
    const policy = await page.policyAgainst(url);
    if (policy !== null) throw policy;
    throw unavailable(`Core does not answer at ${url}. Is \`pedelec-core serve\` running?`, error);
  }
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => null)) ?? {}; // Core says itself what it lacks
  if (error === undefined) throw unavailable(`Core answered ${response.status} for ${url}. ${REBUILD}`);
  throw unavailable([error.message, ...(error.recoverySteps ?? [])].join(" "));
}
