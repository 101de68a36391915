// Turns a JavaScript value into JSON text, exactly or not at all.
//
// Owns the fast path: one walk that copies what it checked, then `JSON.stringify` of the copy, so that
// getters, proxies and `toJSON` methods are read once and cannot change what was checked. Which value is at
// fault, and where, is worked out by describe.mjs, on failure only. Never throws: the outcome says what
// happened.

import { encodeCarefully, MAX_EXACT, WHOLE_IN_JSON } from "./describe.mjs";

const { getPrototypeOf, getOwnPropertySymbols } = Object;
const { isArray } = Array;
const objectPrototype = Object.prototype;
const arrayPrototype = Array.prototype;

class Unusual extends Error {}
class TooLarge extends Error {}

// The bytes still allowed, or more: each value is counted as the shortest of its kind. It stops shared
// references, which double at each level of nesting, from being written out without end.
let left = 0;
let maxDepth = 0;

/**
 * @param {unknown} value
 * @param {{maxBytes: number, maxDepth: number}} limits
 * @returns {{text: string} | {fault: {path: string, type: string, hint: string}} | {size: number}}
 *   the JSON text; or the first value that JSON cannot carry; or a size over the limit, in bytes (what was
 *   counted at least).
 */
export function encode(value, limits) {
  return encodeQuickly(value, limits) ?? encodeCarefully(value, limits);
}

function encodeQuickly(value, limits) {
  if (!prototypesAreClean()) return null;
  left = limits.maxBytes;
  maxDepth = limits.maxDepth;
  try {
    const text = JSON.stringify(copyOfMember(value, 0) ?? null);
    // JSON.stringify writes a lone surrogate as an escape. So does a string that holds these three
    // characters.
    if (text.includes("\\ud")) return null;
    return text.length > limits.maxBytes ? { size: text.length } : { text };
  } catch (error) {
    return error instanceof TooLarge ? { size: limits.maxBytes - left } : null;
  }
}

// Old libraries add `toJSON` or enumerable methods to the built-in prototypes; the copy would inherit them.
function prototypesAreClean() {
  for (const _ in objectPrototype) return false;
  return objectPrototype.toJSON === undefined && arrayPrototype.toJSON === undefined;
}

function copyOfMember(member, depth) {
  switch (typeof member) {
    case "string":
      left -= member.length;
      return member;
    case "number":
      if (member <= MAX_EXACT && member >= -MAX_EXACT) return member;
      if (!Number.isFinite(member) || Math.abs(member) < WHOLE_IN_JSON) throw new Unusual();
      return member;
    case "boolean":
      return member;
    case "undefined":
      if (member !== undefined) throw new Unusual(); // document.all
      return member;
    case "object":
      if (member === null) return member;
      if (left < 0) throw new TooLarge();
      if (depth === maxDepth) throw new Unusual();
      return isArray(member) ? copyOfArray(member, depth + 1) : copyOfObject(member, depth + 1);
    default:
      throw new Unusual();
  }
}

function copyOfArray(array, depth) {
  if (getPrototypeOf(array) !== arrayPrototype) throw new Unusual();
  const { length } = array;
  left -= length * 2 + 1;
  if (left < 0) throw new TooLarge();
  const copy = new Array(length);
  for (let index = 0; index < length; index++) {
    const member = array[index];
    // The commonest members by far, here as below: a call for each costs more than looking at it.
    if (typeof member === "string") {
      left -= member.length;
      copy[index] = member;
    } else {
      copy[index] = copyOfMember(member, depth);
    }
  }
  return copy;
}

function copyOfObject(object, depth) {
  const prototype = getPrototypeOf(object);
  if (prototype !== objectPrototype && prototype !== null) throw new Unusual();
  left -= 1;
  const copy = { ...object };
  if (getOwnPropertySymbols(copy).length > 0) throw new Unusual();
  for (const key in copy) {
    const member = copy[key];
    if (member !== undefined) left -= key.length + 4;
    if (typeof member === "string") {
      left -= member.length;
      continue;
    }
    if (typeof member === "boolean") continue;
    if (typeof member === "number" && member <= MAX_EXACT && member >= -MAX_EXACT) continue;
    const copied = copyOfMember(member, depth);
    if (copied !== member) copy[key] = copied;
  }
  return copy;
}
