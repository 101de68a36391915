// The fields of a question's form, made from its schema: a flat object of strings, numbers, booleans and choices.
//
// Owns how each kind of field looks and what is read from it. Whether an answer holds to the schema is Python's to
// say; the browser's own checks only help to get it right.

const MAX_RADIOS = 8;
const INPUT_TYPES = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };

/**
 * @param {{properties?: object, required?: string[]}} schema
 * @returns {{name: string, element: Element, focusable: Element, read: () => unknown}[]}
 */
export function fieldsOf({ properties = {}, required = [] }) {
  return Object.entries(properties).map(([name, member]) => {
    const label = member.title ?? name;
    const field = makerOf(member)(name, member, { label, required: required.includes(name) });
    if (member.description !== undefined) {
      field.element.append(make("span", { className: "hint", textContent: member.description }));
    }
    return { name, ...field };
  });
}

function makerOf(member) {
  if (member.type === "array") return checkboxes;
  if (member.type === "boolean") return checkbox;
  const choices = choicesOf(member);
  if (choices.length === 0) return input;
  return choices.length <= MAX_RADIOS ? radios : select;
}

/** `[value, label]` of each choice. */
function choicesOf(member) {
  const titled = member.oneOf ?? member.anyOf;
  if (titled !== undefined) return titled.map(({ const: value, title }) => [value, title ?? value]);
  const names = member.enumNames ?? [];
  return (member.enum ?? []).map((value, index) => [value, names[index] ?? value]);
}

function input(name, member, { label, required }) {
  const isNumber = member.type !== "string";
  const control = make("input", {
    id: `field-${name}`,
    type: isNumber ? "number" : (INPUT_TYPES[member.format] ?? "text"),
    required,
    value: member.default ?? "",
    autocomplete: "off",
  });
  const bounds = isNumber
    ? { min: member.minimum, max: member.maximum, step: member.type === "integer" ? 1 : "any" }
    : { minlength: member.minLength, maxlength: member.maxLength };
  for (const [attribute, value] of Object.entries(bounds)) {
    if (value !== undefined) control.setAttribute(attribute, value);
  }
  const read = () => {
    if (control.value === "" && !required) return undefined;
    return isNumber ? control.valueAsNumber : control.value;
  };
  return { element: labelled(label, control), focusable: control, read };
}

function select(name, member, { label, required }) {
  const choices = choicesOf(member);
  const options = choices.map(([value, text]) => make("option", { value, textContent: text }));
  const none = make("option", { value: "", textContent: "–" });
  const control = make("select", { id: `field-${name}`, required }, [none, ...options]);
  control.value = member.default ?? "";
  const read = () => (control.value === "" ? undefined : control.value);
  return { element: labelled(label, control), focusable: control, read };
}

function radios(name, member, { label, required }) {
  const isChosen = (value) => value === member.default;
  return group("radio", name, choicesOf(member), { label, required, isChosen, read: ([first]) => first });
}

function checkboxes(name, member, { label }) {
  const isChosen = (value) => (member.default ?? []).includes(value);
  return group("checkbox", name, choicesOf(member.items), { label, required: false, isChosen, read: (all) => all });
}

function group(type, name, choices, { label, required, isChosen, read }) {
  const boxes = choices.map(([value], index) =>
    make("input", { type, name, value, required, checked: isChosen(value), id: `field-${name}-${index}` }),
  );
  const rows = choices.map(([, text], index) => make("label", {}, [boxes[index], ` ${text}`]));
  const element = make("fieldset", {}, [make("legend", { textContent: label }), ...rows]);
  const chosen = () => choices.filter((_, index) => boxes[index].checked).map(([value]) => value);
  return { element, focusable: boxes.find((box) => box.checked) ?? boxes[0], read: () => read(chosen()) };
}

function checkbox(name, member, { label }) {
  const control = make("input", { id: `field-${name}`, type: "checkbox", checked: member.default === true });
  const element = make("div", { className: "field" }, [make("label", {}, [control, ` ${label}`])]);
  return { element, focusable: control, read: () => control.checked };
}

function labelled(text, control) {
  return make("div", { className: "field" }, [make("label", { htmlFor: control.id, textContent: text }), control]);
}

function make(name, properties, children = []) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
