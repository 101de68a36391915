// A form made from a tool's JSON Schema, and the arguments it holds.
//
// Owns how a schema becomes fields and back. What it cannot show as a field of its own is a field of JSON.

import { h } from "./dom.mjs";

/** The arguments to begin with: what the schema itself suggests for everything that is required. */
export function firstArguments(schema) {
  const required = new Set(schema.required ?? []);
  const entries = Object.entries(schema.properties ?? {}).map(([name, given]) => {
    const own = resolve(given, schema);
    const suggested = own.examples?.[0] ?? own.default;
    if (suggested !== undefined && (required.has(name) || own.examples)) return [name, suggested];
    return [name, required.has(name) ? emptyOf(own) : undefined];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Fields for a schema. `read()` gives the arguments, `write(args)` shows some, `onchange` hears of edits. */
export function makeForm(schema, onchange) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, given]) =>
    makeField(name, resolve(given, schema), required.has(name), onchange),
  );
  const element = h("div", { class: "fields" }, ...fields.map((field) => field.element));
  if (fields.length === 0) element.append(h("p", { class: "quiet" }, "This tool takes no arguments."));
  return {
    element,
    read: () =>
      Object.fromEntries(fields.map(({ name, read }) => [name, read()]).filter(([, value]) => value !== undefined)),
    write: (args) => fields.forEach(({ name, write }) => write(args?.[name])),
  };
}

function makeField(name, schema, required, onchange) {
  const id = `field-${name}`;
  const hint = [schema.description, limitsOf(schema)].filter(Boolean).join(" · ");
  const { control, read, write } = controlFor(schema, required);
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  control.addEventListener("input", onchange);
  const label = h("label", { for: id }, name, required ? null : h("span", { class: "quiet" }, " optional"));
  const element = h("div", { class: "field" }, label, control);
  if (hint) element.append(h("p", { class: "hint", id: `${id}-hint` }, hint));
  return { name, element, read, write };
}

function controlFor(schema, required) {
  if (schema.enum) return choice(schema.enum, required);
  if (schema.type === "boolean") return choice([true, false], required);
  if (schema.type === "number" || schema.type === "integer") return number(schema);
  if (schema.type === "string") return text();
  return json();
}

function choice(values, required) {
  const options = values.map((value, index) => h("option", { value: index }, String(value)));
  const control = h("select", {}, required ? null : h("option", { value: "" }, "—"), ...options);
  return {
    control,
    read: () => (control.value === "" ? undefined : values[Number(control.value)]),
    write: (value) => {
      const index = values.indexOf(value);
      control.value = index < 0 ? "" : String(index);
    },
  };
}

function number(schema) {
  const step = schema.type === "integer" ? 1 : "any";
  const control = h("input", { type: "number", min: schema.minimum, max: schema.maximum, step });
  return {
    control,
    read: () => (control.value === "" ? undefined : Number(control.value)),
    write: (value) => (control.value = typeof value === "number" ? String(value) : ""),
  };
}

function text() {
  const control = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  let isGiven = false;
  control.addEventListener("input", () => (isGiven = true));
  return {
    control,
    read: () => (control.value === "" && !isGiven ? undefined : control.value),
    write: (value) => {
      isGiven = typeof value === "string";
      control.value = isGiven ? value : "";
    },
  };
}

function json() {
  const control = h("textarea", { rows: 2, spellcheck: "false", class: "mono", placeholder: "JSON" });
  return {
    control,
    read: () => {
      try {
        return JSON.parse(control.value);
      } catch {
        return undefined;
      }
    },
    write: (value) => {
      if (control !== control.getRootNode().activeElement)
        control.value = value === undefined ? "" : JSON.stringify(value);
    },
  };
}

// What pydantic writes for `X | None` and for shared models: the one alternative that is not null, and `$defs`.
function resolve(schema, root) {
  const { $ref, anyOf, ...own } = schema;
  if ($ref?.startsWith("#/$defs/")) return { ...resolve(root.$defs?.[$ref.slice(8)] ?? {}, root), ...own };
  const others = anyOf?.filter((each) => each.type !== "null") ?? [];
  if (others.length === 1) return { ...resolve(others[0], root), ...own };
  return schema;
}

function emptyOf(schema) {
  if (schema.enum) return schema.enum[0];
  const known = { string: "", boolean: false, array: [], object: {} };
  return schema.type in known ? known[schema.type] : Math.max(schema.minimum ?? 0, 0);
}

function limitsOf({ minimum, maximum }) {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `from ${minimum}`;
  return maximum === undefined ? "" : `up to ${maximum}`;
}
