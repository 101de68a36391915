// Says which part of a JavaScript value JSON cannot carry, where it is, what it is and how to convert it.
//
// Owns the slow path of encode.mjs: it writes the text itself, member by member, and so can name the path. It
// is right for every value, also where encode.mjs gives up: values of other realms, prototypes that a library
// changed.

/** The bar of I-JSON (RFC 7493, section 2.2): integers beyond it are not exact in every receiver. */
export const MAX_EXACT = Number.MAX_SAFE_INTEGER;
/** From here on JSON writes a number with an exponent, so no receiver takes it for an integer. */
export const WHOLE_IN_JSON = 1e21;

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const MAX_STEP_CHARS = 100;
const utf8 = new TextEncoder();

class Fault extends Error {
  constructor(path, type, hint) {
    super();
    this.fault = { path, type, hint };
  }
}

class TooLarge extends Error {}

/** Same contract as `encode` in encode.mjs. */
export function encodeCarefully(value, limits) {
  const writer = new Writer(limits);
  try {
    writer.member(value === undefined ? null : value, "$", 0);
  } catch (error) {
    if (error instanceof Fault) return { fault: error.fault };
    if (error instanceof TooLarge) return { size: writer.size };
    return { fault: { path: "$", type: nameOf(value), hint: `Reading it failed: ${textOf(error)}.` } };
  }
  return writer.size > limits.maxBytes ? { size: writer.size } : { text: writer.parts.join("") };
}

// As pedelec.json_safe writes it: `$.rows[3].el`, overlong keys cut.
function pathTo(parent, key) {
  if (IDENTIFIER.test(key) && key.length <= MAX_STEP_CHARS) return `${parent}.${key}`;
  const shown = key.length <= MAX_STEP_CHARS ? key : `${key.slice(0, MAX_STEP_CHARS)}…`;
  return `${parent}[${JSON.stringify(shown.toWellFormed())}]`;
}

/** What a value is, by the name that its author gave it; never throws. */
export function nameOf(value) {
  if (value === null) return "null";
  if (value !== undefined && typeof value === "undefined") return "HTMLAllCollection"; // document.all
  if (typeof value !== "object") return typeof value;
  const ways = [pythonTypeOf, constructorOf, tagOf];
  return ways.reduce((name, way) => name ?? quietly(() => way(value)), undefined) ?? "object";
}

/** Text for people about anything that was thrown; never throws. */
export function textOf(thrown) {
  const text = quietly(() => String(Object(thrown) === thrown ? thrown.message : thrown));
  return text ? `${nameOf(thrown)}: ${text}` : nameOf(thrown);
}

/** What `read` gives, or undefined where it throws. */
export function quietly(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function constructorOf(object) {
  const name = Object.getPrototypeOf(object)?.constructor?.name;
  return typeof name === "string" && name !== "" ? name : undefined;
}

function tagOf(object) {
  return Object.prototype.toString.call(object).slice("[object ".length, -1);
}

// A Python object that was handed to JavaScript is a function-like proxy whose `type` is its Python type's
// name.
function pythonTypeOf(value) {
  return isPythonProxy(value) ? `Python ${value.type}` : undefined;
}

function isPythonProxy(value) {
  return (
    typeof value.destroy === "function" && typeof value.toJs === "function" && typeof value.type === "string"
  );
}

class Writer {
  constructor({ maxBytes, maxDepth }) {
    this.parts = [];
    this.size = 0;
    this.maxBytes = maxBytes;
    this.maxDepth = maxDepth;
    this.ancestors = [];
  }

  write(text) {
    this.parts.push(text);
    this.size += text.length;
    if (this.size > this.maxBytes) throw new TooLarge();
  }

  member(value, path, depth) {
    switch (typeof value) {
      case "string":
        return this.string(value, path);
      case "number":
        return this.write(numberText(value, path));
      case "boolean":
        return this.write(String(value));
      case "object":
        return value === null ? this.write("null") : this.container(value, path, depth);
      default:
        throw new Fault(path, nameOf(value), HINTS[typeof value]);
    }
  }

  string(value, path) {
    if (!value.isWellFormed()) throw new Fault(path, "string", HINTS.surrogate);
    if (value.length > this.maxBytes) {
      this.size += value.length;
      throw new TooLarge();
    }
    const text = JSON.stringify(value);
    this.write(text);
    this.size += utf8.encode(text).length - text.length;
  }

  container(value, path, depth) {
    if (this.ancestors.includes(value)) throw new Fault(path, nameOf(value), HINTS.cycle);
    if (depth === this.maxDepth) {
      throw new Fault(path, nameOf(value), `Nested more than ${this.maxDepth} deep: return a flatter value.`);
    }
    this.ancestors.push(value);
    if (readAt(path, value, () => Array.isArray(value))) this.array(value, path, depth + 1);
    else this.object(value, path, depth + 1);
    this.ancestors.pop();
  }

  array(array, path, depth) {
    if (!readAt(path, array, () => isPlainArray(array)))
      throw new Fault(path, nameOf(array), HINTS.arraySubclass);
    const length = readAt(path, array, () => array.length);
    this.write("[");
    for (let index = 0; index < length; index++) {
      const place = `${path}[${index}]`;
      const member = readAt(place, array, () => array[index]);
      if (index > 0) this.write(",");
      this.member(isUndefined(member) ? null : member, place, depth);
    }
    this.write("]");
  }

  object(object, path, depth) {
    if (!readAt(path, object, () => isPlainObject(object)))
      throw new Fault(path, nameOf(object), hintFor(object));
    const keys = readAt(path, object, () => enumerableKeys(object));
    let separator = "";
    this.write("{");
    for (const key of keys) {
      if (typeof key === "symbol") throw new Fault(path, "symbol", HINTS.symbolKey);
      if (!key.isWellFormed()) throw new Fault(path, "string", HINTS.surrogateKey);
      const place = pathTo(path, key);
      const member = readAt(place, object, () => object[key]);
      if (isUndefined(member)) continue;
      this.write(separator);
      this.string(key, place);
      this.write(":");
      if (key === "toJSON" && typeof member === "function") throw new Fault(place, "function", HINTS.toJSON);
      this.member(member, place, depth);
      separator = ",";
    }
    this.write("}");
  }
}

function isUndefined(member) {
  return member === undefined; // not typeof: document.all claims to be undefined
}

function readAt(path, owner, read) {
  try {
    return read();
  } catch (error) {
    throw new Fault(path, nameOf(owner), `Reading it failed: ${textOf(error)}.`);
  }
}

function enumerableKeys(object) {
  return Reflect.ownKeys(object).filter((key) => Object.getOwnPropertyDescriptor(object, key)?.enumerable);
}

// Each realm (an iframe's, say) has its own Object.prototype: the one that has no prototype and has this
// method.
function isPlainObject(object) {
  const prototype = Object.getPrototypeOf(object);
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf"))
  );
}

// Likewise each realm's Array.prototype is itself an array; a subclass's prototype is not.
function isPlainArray(array) {
  return Array.isArray(Object.getPrototypeOf(array));
}

function numberText(number, path) {
  if (!Number.isFinite(number)) throw new Fault(path, "number", HINTS.nan);
  if (Math.abs(number) > MAX_EXACT && Math.abs(number) < WHOLE_IN_JSON) {
    throw new Fault(path, "number", HINTS.unsafe);
  }
  return JSON.stringify(number);
}

const HINTS = {
  bigint: "Return a string, or Number(value) where that is exact.",
  symbol: "Return its description, a string.",
  function: "A function has no JSON: return what it gives, or leave it out.",
  undefined: "Return an array of what it holds.",
  nan: "Return null or a string: JSON has no such number.",
  unsafe: "Return a string: integers beyond ±(2^53-1) are not exact.",
  surrogate: "Return whole Unicode: text.toWellFormed() replaces lone surrogates.",
  surrogateKey: "A key of it has a lone surrogate: text.toWellFormed() replaces those.",
  symbolKey: "A key of it is a symbol; keys are strings.",
  cycle: "It holds itself: return an id where the circle closes.",
  arraySubclass: "Return Array.from(value).",
  toJSON: "toJSON is never called: call it and return what it gives.",
};

const HINTS_BY_NAME = {
  Map: "Return Object.fromEntries(map).",
  Set: "Return Array.from(set).",
  Date: "Return date.toISOString().",
  RegExp: "Return regexp.source.",
  URL: "Return url.href.",
  Promise: "Await it first.",
  Number: "Return the primitive, value.valueOf().",
  String: "Return the primitive, value.valueOf().",
  Boolean: "Return the primitive, value.valueOf().",
  File: "Return its name, or its text from await file.text().",
  Blob: "Return its text from await blob.text().",
  ArrayBuffer: "Return Array.from(new Uint8Array(buffer)), or base64 text.",
  DataView: "Return the numbers that you read from it.",
  FormData: "Return Object.fromEntries(formData).",
  Headers: "Return Object.fromEntries(headers).",
  URLSearchParams: "Return Object.fromEntries(params).",
  NodeList: "Return an array of what you need of each element.",
  HTMLCollection: "Return an array of what you need of each element.",
};

function hintFor(object) {
  const name = nameOf(object);
  if (Object.hasOwn(HINTS_BY_NAME, name)) return HINTS_BY_NAME[name];
  if (ArrayBuffer.isView(object)) return "Return Array.from(value).";
  if (quietly(() => typeof object.nodeType === "number"))
    return "Return what you need of it: its id, text or attributes.";
  if (quietly(() => isPythonProxy(object))) return "Return a plain value: proxy.toJs() makes one.";
  if (isErrorLike(object)) return "Throw it, or return {error: {code, message}}.";
  if (quietly(() => typeof object.toJSON === "function")) return HINTS.toJSON;
  return "Return a plain object, such as {...value}.";
}

/** Whether a value is an Error of any realm; never throws. */
export function isErrorLike(value) {
  const tag = quietly(() => tagOf(value));
  return tag === "Error" || tag === "DOMException" || quietly(() => value instanceof Error) === true;
}
