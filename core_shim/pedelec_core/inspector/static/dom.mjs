// Small helpers for making elements. Text goes in as text, never as HTML.

/** Make an element: `h("p", { class: "quiet", onclick: run }, "text", child)`. What is null is left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A button that copies what `text()` says at that moment, and says whether it did: a browser may forbid it. */
export function copyButton(label, text) {
  const button = h("button", { type: "button", class: "small" }, label);
  button.addEventListener("click", async () => {
    const copied = navigator.clipboard.writeText(text());
    button.textContent = await copied.then(() => "Copied", () => "Not allowed");
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

/** Milliseconds for people. */
export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

/** A word as a shell takes it. */
export const shellWord = (word) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
