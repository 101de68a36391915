// Turns anything that a JavaScript handler threw into what Python's side needs to answer the call.
//
// Owns the difference between a domain error (an object with `code` and `message`: it keeps its own code) and
// everything else. Decides nothing about the answer's wording: Python does, the same for both languages.

import { isErrorLike, nameOf, quietly } from "./describe.mjs";
import { encode } from "./encode.mjs";
import { PedelecError } from "./page.mjs";

const LIMITS = { maxBytes: 64 * 1024, maxDepth: 20 };
const ENVELOPE_FIELDS = [
  "code",
  "class",
  "message",
  "retryAfterSeconds",
  "recoverySteps",
  "retryable",
  "effects",
  "errorType",
  "reason",
  "options",
  "suggestions",
  "details",
];

/**
 * @param {unknown} thrown
 * @returns {{domain: object} | {type: string, message: string, stack: string, status?: number, headers?: object}}
 *   JSON-safe
 */
export function describeThrown(thrown) {
  const domain = quietly(() => domainError(thrown));
  if (domain !== undefined) return { domain };
  if (isErrorLike(thrown)) return describeError(thrown);
  const message = Object(thrown) === thrown ? describeObject(thrown) : String(thrown);
  return { type: nameOf(thrown), message: message.toWellFormed(), stack: "", ...httpFacts(thrown) };
}

const HEADERS = ["retry-after", "date", "x-ratelimit-remaining"];

// The status and what else tells when to try again, of a Response or of an error that has one.
function httpFacts(thrown) {
  for (const holder of [thrown, quietly(() => thrown.response)]) {
    const status = quietly(() => holder.status);
    if (Number.isInteger(status)) return { status, headers: headersOf(quietly(() => holder.headers)) };
  }
  return {};
}

function headersOf(headers) {
  const read = (name) => quietly(() => (typeof headers.get === "function" ? headers.get(name) : headers[name]));
  const found = HEADERS.map((name) => [name, read(name)]);
  return Object.fromEntries(found.filter(([, value]) => typeof value === "string"));
}

// An Error's `code` is its author's private matter (Node and Firebase set one), as in the TypeScript SDK.
// Ours is not.
function domainError(thrown) {
  if (Object(thrown) !== thrown) return undefined;
  if (isErrorLike(thrown) && !(thrown instanceof PedelecError)) return undefined;
  const { code, message } = thrown;
  if (typeof code !== "string" || code === "" || typeof message !== "string") return undefined;
  const envelope = Object.fromEntries(ENVELOPE_FIELDS.map((field) => [field, thrown[field]]));
  const { text } = encode(envelope, LIMITS);
  return text === undefined
    ? { code: code.toWellFormed(), message: message.toWellFormed() }
    : JSON.parse(text);
}

function describeError(error) {
  const own = quietly(() => error.name);
  const type = typeof own === "string" && own !== "" && own !== "Error" ? own : nameOf(error);
  return {
    type: type.toWellFormed(),
    message: textField(error, "message"),
    stack: textField(error, "stack"),
    ...httpFacts(error),
  };
}

function textField(error, field) {
  return quietly(() => String(error[field] ?? "").toWellFormed()) ?? "";
}

function describeObject(object) {
  return encode(object, LIMITS).text ?? quietly(() => String(object.message ?? "")) ?? "";
}
