// The dialog in which a person approves a call or answers a handler's question. Loaded when first needed.
//
// Owns its elements, its keyboard and its looks. Everything that it shows is text, made safe by Python, and is
// set as text. Its styles are a constructed sheet in a shadow root: no page's styles reach it, and no
// Content-Security-Policy stands in its way.

import { fieldsOf } from "./dialog_fields.mjs";

const STYLES = `
:host { all: initial }
dialog {
  box-sizing: border-box; width: min(32rem, calc(100vw - 2rem)); max-height: calc(100vh - 2rem);
  padding: 1.25rem; border: 1px solid GrayText; border-radius: 0.75rem; overflow: auto;
  color-scheme: light dark; background: Canvas; color: CanvasText;
  font: 1rem/1.5 system-ui, sans-serif; box-shadow: 0 1rem 3rem rgb(0 0 0 / 40%);
}
dialog::backdrop { background: rgb(0 0 0 / 50%) }
h2 { margin: 0 0 0.5rem; font-size: 1.125rem }
p, pre { margin: 0 0 1rem; unicode-bidi: plaintext; overflow-wrap: anywhere; white-space: pre-wrap }
pre {
  max-height: 40vh; overflow: auto; padding: 0.75rem; border: 1px solid GrayText; border-radius: 0.5rem;
  font: 0.875rem/1.5 ui-monospace, monospace; tab-size: 2;
}
.field, fieldset { display: grid; gap: 0.25rem; margin: 0 0 1rem }
fieldset { border: 1px solid GrayText; border-radius: 0.5rem; padding: 0.5rem 0.75rem }
.hint { color: GrayText; font-size: 0.875rem }
input, select, button { font: inherit }
input:not([type="checkbox"], [type="radio"]), select { box-sizing: border-box; width: 100%; padding: 0.375rem 0.5rem }
.buttons { display: flex; gap: 0.75rem; justify-content: flex-end }
button { min-width: 6rem; padding: 0.5rem 1rem; cursor: pointer }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px }
@media (prefers-reduced-motion: no-preference) {
  dialog[open] { animation: appear 150ms ease-out }
  @keyframes appear { from { opacity: 0; transform: translateY(0.5rem) } }
}
`;

const WORDS = {
  approval: { title: "Approval needed", accept: "Allow", decline: "Deny" },
  question: { title: "A question", accept: "Answer", decline: "Cancel" },
};

const FOCUSABLE = "button, input, select, pre";

/**
 * Show a question.
 *
 * @param {{kind: string, message: string, arguments?: string, schema: object}} question
 * @param {(accepted: boolean, content: object) => void} answered called once, with what the person says
 * @returns {() => void} takes the dialog away
 */
export function openDialog(question, answered) {
  const words = WORDS[question.kind] ?? WORDS.question;
  const fields = fieldsOf(question.schema);
  const decline = make("button", { type: "button", textContent: words.decline });
  const accept = make("button", { type: "submit", textContent: words.accept });
  const form = make("form", {}, [
    make("h2", { id: "title", textContent: words.title }),
    make("p", { id: "message", dir: "auto", textContent: question.message }),
    ...argumentsOf(question),
    ...fields.map(({ element }) => element),
    make("div", { className: "buttons" }, [decline, accept]),
  ]);
  const dialog = make("dialog", {}, [form]);
  dialog.setAttribute("aria-labelledby", "title");
  dialog.setAttribute("aria-describedby", "message");
  const host = mount(dialog);

  let isOver = false;
  const answer = (accepted, content) => {
    if (isOver) return;
    isOver = true;
    answered(accepted, content);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer(true, contentOf(fields));
  });
  decline.addEventListener("click", () => answer(false, {}));
  dialog.addEventListener("close", () => answer(false, {})); // Escape, or whatever else the browser closes it for
  dialog.addEventListener("keydown", (event) => keepFocus(event, dialog));
  dialog.showModal();
  // To say no is the safe mistake of somebody who was just typing.
  (fields[0]?.focusable ?? decline).focus();

  return () => {
    isOver = true;
    dialog.close(); // gives the focus back to where it was
    host.remove();
  };
}

function mount(dialog) {
  const host = document.createElement("pedelec-dialog");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  root.adoptedStyleSheets = [sheet];
  root.append(dialog);
  document.documentElement.append(host);
  return host;
}

function argumentsOf(question) {
  if (!question.arguments) return [];
  const shown = make("pre", { dir: "auto", tabIndex: 0, textContent: question.arguments });
  shown.setAttribute("role", "region");
  shown.setAttribute("aria-label", "Arguments of the call");
  return [shown];
}

function contentOf(fields) {
  const given = fields.map(({ name, read }) => [name, read()]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

// A modal dialog keeps the focus out of the page; this keeps it in the dialog, too.
function keepFocus(event, dialog) {
  if (event.key !== "Tab") return;
  const reachable = [...dialog.querySelectorAll(FOCUSABLE)].filter((element) => element.tabIndex >= 0);
  const [first, last] = [reachable[0], reachable.at(-1)];
  const here = dialog.getRootNode().activeElement;
  const [edge, other] = event.shiftKey ? [first, last] : [last, first];
  if (here !== edge) return;
  event.preventDefault();
  other.focus();
}

function make(name, properties, children = []) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
