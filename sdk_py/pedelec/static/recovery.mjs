// The kit of docs/designing-errors.md for JavaScript authors: the names of `pedelec.recovery`, in camelCase.
//
// Owns what only JavaScript can do: running the author's functions and reading the author's objects. What is decided
// and what is said is Python's, the same for both languages; it is asked at once, with text.

import { callOf } from "./calls.mjs";
import { encode } from "./encode.mjs";
import { ToolError } from "./page.mjs";
import { describeThrown } from "./thrown.mjs";

/** The parts of the kit, for a page whose Python is running. */
export function kitOf(bridge) {
  const ask = (name, given) => {
    const { value, error } = bridge.call("recover", { function: name, given });
    if (error !== undefined) throw new ToolError(error);
    return value;
  };
  const made = (name, given) => new ToolError(ask(name, given));

  return {
    toolError: (kind, given) => made("tool_error", { kind, ...given }),
    chooseOne: (query, candidates, options = {}) => chooseOne(ask, query, [...candidates], options),
    gatherParts: (sources, options = {}) => gatherParts(ask, Object.entries(sources), options),
    firstThatWorks: (alternatives, options = {}) => firstThatWorks(ask, [...alternatives], options),
    upstreamError: (failure, { service } = {}) => made("upstream_error", { ...described(failure), service }),
    requireVersion: (expected, actual, options = {}) => {
      ask("require_version", { expected: expected ?? null, actual, ...options });
    },
    staleCall: (what, { read } = {}) => made("stale_call", { what, read }),
  };
}

function chooseOne(ask, query, candidates, { key, value, ...options }) {
  const asked = typeof query === "number" ? query : String(query ?? "");
  const given = { query: asked, candidates: candidates.map(scalarsOf), ...options };
  if (typeof key === "function") given.names = candidates.map((candidate) => String(key(candidate)));
  else given.key = key;
  if (typeof value === "function") given.values = candidates.map((candidate) => value(candidate));
  else given.value = value;
  return candidates[ask("choose_one", given)];
}

const SCALARS = new Set(["string", "number", "boolean"]);
const NAMES = ["id", "name", "label", "title"]; // may be getters of a class, which are no entries

function scalarsOf(candidate) {
  if (Object(candidate) !== candidate) return String(candidate);
  const named = NAMES.filter((name) => name in candidate).map((name) => [name, candidate[name]]);
  const said = [...named, ...Object.entries(candidate)].map(([name, member]) => [name, asScalar(member)]);
  return Object.fromEntries(said.filter(([, member]) => SCALARS.has(typeof member)));
}

function asScalar(member) {
  if (member instanceof Date) return Number.isNaN(member.getTime()) ? undefined : member.toISOString();
  return typeof member === "bigint" ? String(member) : member;
}

async function gatherParts(ask, sources, { argument, context }) {
  const outcomes = await Promise.all(sources.map(([name, source]) => partOf(name, source)));
  const failed = {};
  const parts = {};
  for (const [index, [name]] of sources.entries()) {
    const { value, failure } = outcomes[index];
    parts[name] = failure === undefined ? value : null;
    if (failure !== undefined) failed[name] = failure;
  }
  const names = sources.map(([name]) => name);
  return { parts, ...ask("gather_parts", { names, failed, argument, call: callOf(context) }) };
}

const PART_LIMITS = { maxBytes: 1024 * 1024, maxDepth: 100 };

// A part that cannot be sent has failed as well: else it would cost the caller the others.
async function partOf(name, source) {
  const outcome = await outcomeOf(source);
  if (outcome.failure !== undefined) return outcome;
  const { text, fault, size } = encode({ parts: { [name]: outcome.value } }, PART_LIMITS);
  if (text !== undefined) return outcome;
  return { failure: fault === undefined ? { size, limit: PART_LIMITS.maxBytes } : { fault } };
}

async function firstThatWorks(ask, alternatives, { allow = [], argument }) {
  const effects = alternatives.map(({ name, effects: words }) => [name, words]);
  const given = { effects, allow: [...allow].filter((name) => typeof name === "string"), argument, failures: [] };
  for (const name of ask("first_that_works", given)) {
    const { value, failure } = await outcomeOf(alternatives.find((one) => one.name === name).run);
    if (failure === undefined) return { result: value, ...ask("first_that_works", { ...given, worked: name }) };
    given.failures.push([name, failure]);
    ask("first_that_works", given);
  }
  throw new ToolError(ask("first_that_works", { ...given, exhausted: true }));
}

/** What a source came to: its value, or what was thrown, described. */
async function outcomeOf(source) {
  try {
    const value = await (typeof source === "function" ? source() : source);
    return value instanceof ToolError ? { failure: describeThrown(value) } : { value };
  } catch (thrown) {
    return { failure: describeThrown(thrown) };
  }
}

function described(failure) {
  return typeof failure === "string" ? { text: failure } : { failure: describeThrown(failure) };
}
