// Reads Core's Pyodide bundle: its manifest, and its files checked against it.
//
// Owns what the page is told when Core or the bundle is missing, damaged or half there.

import { PedelecError, page } from "./page.mjs";

const REBUILD = "Run `pedelec-core runtime build`, then reload the page.";

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

/** Core's manifest.json, parsed. */
export async function fetchManifest(url) {
  const response = await get(url);
  const manifest = await response.json().catch(() => null);
  if (typeof manifest?.files !== "object" || typeof manifest.sdkWheel !== "string") {
    throw unavailable(`${url} is damaged. ${REBUILD}`);
  }
  return manifest;
}

/** The size of a file in bytes, from its entry in the manifest; 0 where the manifest lacks it. */
export function sizeOf(entry) {
  return entry?.size ?? 0;
}

/**
 * A file of the bundle, whole and as the manifest has it.
 *
 * @param {string} url
 * @param {{size: number, sha256: string} | undefined} entry
 * @param {(bytes: number) => void} advance told of each piece as it arrives
 * @returns {Promise<Uint8Array>}
 */
export async function fetchVerified(url, entry, advance) {
  if (entry === undefined) throw unavailable(`Core's bundle has no ${url}. ${REBUILD}`);
  const response = await get(url);
  const bytes = new Uint8Array(entry.size);
  let received = 0;
  try {
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (received + value.length > entry.size) throw new RangeError("longer than the manifest says");
      bytes.set(value, received);
      received += value.length;
      advance(value.length);
    }
  } catch (error) {
    throw unavailable(`${url} did not arrive whole. ${REBUILD}`, error);
  }
  if (received !== entry.size || !(await hasDigest(bytes, entry.sha256))) {
    throw unavailable(`${url} is damaged. ${REBUILD}`);
  }
  return bytes;
}

// crypto.subtle exists in secure contexts alone; elsewhere the size has to do.
async function hasDigest(bytes, sha256) {
  if (globalThis.crypto.subtle === undefined) return true;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") === sha256;
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
