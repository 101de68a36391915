// The agent console: choose a tool from Core's list, fill in its arguments, run it through Core, see the answer.
//
// Owns the form beside the raw JSON (the JSON is what is sent) and the answer's display. Talks through the link.

import { explain, readAnswer } from "./answer.mjs";
import { copyButton, duration, h, shellWord } from "./dom.mjs";
import { firstArguments, makeForm } from "./form.mjs";

/** A section of the inspector. `thread()` is the session meant. */
export class Console {
  #link;
  #thread;
  #tools = [];
  #form = null;
  #running = null;
  #kept = new Map(); // the arguments last edited of each tool
  #answerLine = "";

  constructor(link, thread) {
    this.#link = link;
    this.#thread = thread;
    this.tool = h("select", { id: "tool", onchange: () => this.#show() });
    this.about = h("p", { class: "about" });
    this.flags = h("p", { class: "flags" });
    this.fields = h("div", { class: "form" });
    this.json = h("textarea", { id: "json", class: "mono", rows: 5, spellcheck: "false" });
    this.problem = h("p", { class: "problem", role: "status" });
    this.limit = h("input", { id: "limit", type: "number", min: 1, step: 1, placeholder: "the tool’s" });
    this.run = h("button", { class: "primary", type: "submit" }, "Run");
    this.stop = h("button", { type: "button", hidden: true, onclick: () => this.#running?.cancel() }, "Cancel");
    this.progress = h("progress", { hidden: true, "aria-label": "How far the call is" });
    this.progressText = h("span", { class: "quiet" });
    this.verdict = h("p", { class: "verdict quiet", role: "status" }, "What an agent would read appears here.");
    this.explanation = h("div", { class: "explanation" });
    this.answer = h("pre", { class: "answer", tabindex: 0, "aria-label": "The exact answer", hidden: true });
    this.answerTools = h(
      "p",
      { class: "row", hidden: true },
      copyButton("Copy the answer", () => this.#answerLine),
    );
    this.json.addEventListener("input", () => this.#jsonEdited());
    this.element = this.#layout();
  }

  /** Show the tools of the session, as Core has them now. */
  async refresh() {
    const threadId = this.#thread();
    this.element.hidden = threadId === null;
    if (threadId === null) return;
    const told = JSON.parse(await this.#link.tools(threadId));
    if (!told.ok || threadId !== this.#thread()) return;
    this.#tools = told.result.tools;
    const former = this.tool.value;
    this.tool.replaceChildren(...this.#tools.map(({ name }) => h("option", { value: name }, name)));
    if (this.#tools.some(({ name }) => name === former)) this.tool.value = former;
    if (this.tool.value !== former || this.#form === null) this.#show();
  }

  /** Put a call into the form, as if it had been typed. */
  prepare(tool, args, timeoutMs) {
    this.tool.value = tool;
    this.#kept.set(tool, JSON.stringify(args, null, 2));
    this.limit.value = timeoutMs ?? "";
    this.#show();
  }

  /** Run what the form holds. Resolves with the answer's line. */
  async runNow() {
    const begun = performance.now();
    const call = this.#link.call({
      threadId: this.#thread(),
      tool: this.tool.value,
      argsText: this.json.value,
      timeoutMs: this.limit.value === "" ? undefined : Number(this.limit.value),
      onEvent: (frame) => this.#heard(frame),
    });
    this.#running = call;
    this.stop.hidden = false;
    this.#verdict("running", "Running…");
    this.explanation.replaceChildren();
    try {
      const line = await call.answer;
      this.#showAnswer(line, performance.now() - begun);
      return line;
    } catch (error) {
      this.#verdict("failed", error.message);
      throw error;
    } finally {
      if (this.#running === call) {
        this.#running = null;
        this.stop.hidden = this.progress.hidden = true;
        this.progressText.textContent = "";
      }
    }
  }

  /** The command that makes a call from a terminal; by default, the call that the form holds. */
  command(tool = this.tool.value, argsText = this.json.value, limit = this.limit.value) {
    const words = [...this.#link.core.commands.cli];
    if (this.#link.sessions.length > 1) words.push("--thread-id", this.#thread());
    words.push("tool-call", tool, compact(argsText));
    if (limit !== "") words.push("--timeout-ms", limit);
    return words.map(shellWord).join(" ");
  }

  #layout() {
    const submit = (event) => {
      event.preventDefault();
      this.runNow().catch(() => {}); // told already
    };
    const keys = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
    };
    return h(
      "section",
      { class: "console", "aria-labelledby": "console-title", hidden: true },
      h("h3", { id: "console-title" }, "Call as an agent"),
      h(
        "form",
        { onsubmit: submit, onkeydown: keys, novalidate: true },
        h("div", { class: "field" }, h("label", { for: "tool" }, "Tool"), this.tool),
        this.about,
        this.flags,
        h(
          "div",
          { class: "split" },
          this.fields,
          h("div", { class: "field" }, h("label", { for: "json" }, "Arguments as JSON"), this.json, this.problem),
        ),
        h(
          "div",
          { class: "row actions" },
          this.run,
          this.stop,
          h("label", { for: "limit", class: "quiet" }, "Limit, ms"),
          this.limit,
          h("span", { class: "spring" }),
          copyButton("Copy as command", () => this.command()),
        ),
        h("div", { class: "row" }, this.progress, this.progressText),
      ),
      this.verdict,
      this.explanation,
      this.answer,
      this.answerTools,
    );
  }

  #show() {
    const tool = this.#tools.find(({ name }) => name === this.tool.value);
    if (tool === undefined) return;
    const schema = tool.argsSchema ?? {};
    this.about.textContent = tool.description;
    this.flags.replaceChildren(...flagsOf(tool).map((flag) => h("span", { class: "flag" }, flag)));
    this.#form = makeForm(schema, () => this.#formEdited());
    this.fields.replaceChildren(this.#form.element);
    const kept = this.#kept.get(tool.name) ?? JSON.stringify(firstArguments(schema), null, 2);
    this.json.value = kept;
    this.#jsonEdited();
  }

  #formEdited() {
    this.json.value = JSON.stringify(this.#form.read(), null, 2);
    this.#keep();
    this.problem.textContent = "";
  }

  #jsonEdited() {
    this.#keep();
    try {
      this.#form.write(JSON.parse(this.json.value));
      this.problem.textContent = "";
    } catch {
      this.problem.textContent = "This is no JSON. It may be sent all the same, to see what an agent is told.";
    }
  }

  #keep() {
    this.#kept.set(this.tool.value, this.json.value);
  }

  #heard(frame) {
    if (frame.type === "progress") this.#showProgress(frame);
    else this.#verdict("running", frame.type === "waiting" ? `Waits for the person: ${frame.message}` : "Running…");
  }

  #showProgress({ done, total, message }) {
    this.progress.hidden = false;
    if (total === undefined) this.progress.removeAttribute("value");
    else Object.assign(this.progress, { max: total, value: done });
    this.progressText.textContent = message ?? (total === undefined ? String(done) : `${done} of ${total}`);
  }

  #showAnswer(line, ms) {
    this.#answerLine = line;
    this.answer.textContent = line;
    this.answer.hidden = this.answerTools.hidden = false;
    const { error, maker, flags, invocationId } = readAnswer(line);
    const text = error === undefined ? "Answered" : `${error.code}, ${maker}`;
    this.#verdict(error === undefined ? "ok" : "failed", [text, duration(ms), ...flags].join(" · "));
    this.explanation.replaceChildren(...[explain(line)].filter(Boolean));
    if (invocationId) this.#link.acknowledge(invocationId);
  }

  #verdict(state, text) {
    this.verdict.dataset.state = state;
    this.verdict.textContent = text;
  }
}

function flagsOf({ readOnly, idempotent, exclusive, consequential, untrustedContent, timeoutMs }) {
  const flags = { "read-only": readOnly, idempotent, exclusive, consequential, "untrusted content": untrustedContent };
  const names = Object.keys(flags).filter((name) => flags[name]);
  return timeoutMs === undefined ? names : [...names, `limit ${duration(timeoutMs)}`];
}

function compact(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
