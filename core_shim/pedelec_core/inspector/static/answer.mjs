// An answer's line for people: what it came to, and what the agent is told to do next.
//
// Owns how a line is read and worded. What stands on the screen beside the exact line is made of this, and of no more.

import { h } from "./dom.mjs";

/** What an answer's line came to; `error` and its `maker` are undefined where it is a result. */
export function readAnswer(line) {
  const told = JSON.parse(line);
  const error = told.error ?? told.result?.error;
  const maker = error && (told.ok ? "the page’s error" : "Core’s error");
  const flags = ["joined", "replayed", "late"].filter((flag) => told[flag]);
  return { error, maker, flags, invocationId: told.invocationId };
}

/** An element that tells an error: its message, and the steps that the agent reads. Null for a result. */
export function explain(line) {
  const { error } = readAnswer(line);
  if (error === undefined) return null;
  const steps = (error.recoverySteps ?? []).map((step) => h("li", {}, step));
  return h("div", { class: "explained" }, h("p", {}, error.message), steps.length > 0 ? h("ul", {}, ...steps) : null);
}
