// The timeline: each call as a bar through its life, live.
//
// Owns the list of calls, its filter and its export. Redraws while a call is open, and not otherwise.

import { copyButton, duration, h } from "./dom.mjs";

const SHOWN = 100;
const TICK_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 100;
const STAGES = [
  ["acceptedAt", "accepted"],
  ["deliveredAt", "delivered"],
  ["settledAt", "settled"],
  ["lateAt", "late result"],
  ["acknowledgedAt", "acknowledged"],
];

/** A section of the inspector. */
export class Timeline {
  calls = new Map(); // by invocation id, oldest first
  #link;
  #rows = new Map();
  #timer = 0;

  constructor(link) {
    this.#link = link;
    this.filter = h("input", {
      id: "filter",
      type: "search",
      placeholder: "tool, id or code",
      oninput: () => this.draw(),
    });
    this.which = h(
      "select",
      { id: "which", onchange: () => this.draw() },
      ...["all", "open", "failed"].map((each) => h("option", { value: each }, each)),
    );
    this.args = h("input", {
      id: "args",
      type: "checkbox",
      onchange: () => link.watchArguments(this.args.checked),
    });
    this.list = h("ol", { class: "calls" });
    this.scale = h("p", { class: "scale quiet" });
    this.empty = h("p", { class: "empty" });
    this.element = this.#layout();
    this.draw();
  }

  /** Calls that are new or have changed. */
  update(calls) {
    for (const call of calls) this.calls.set(call.invocationId, call);
    this.draw();
  }

  draw() {
    const calls = this.#shown();
    const longest = Math.max(250, ...calls.map((call) => endOf(call) - call.acceptedAt));
    this.scale.textContent = `The whole width is ${duration(longest)}.`;
    this.scale.hidden = this.empty.hidden = calls.length > 0;
    this.scale.hidden = calls.length === 0;
    this.empty.textContent =
      this.calls.size === 0
        ? "No call yet. Run a tool above, or copy its command into a terminal: its life is drawn here."
        : "No call matches the filter.";
    const rows = calls.map((call) => this.#row(call, longest));
    for (const [index, row] of rows.entries()) {
      if (this.list.children[index] !== row) this.list.insertBefore(row, this.list.children[index] ?? null);
    }
    while (this.list.children.length > rows.length) this.list.lastChild.remove();
    this.#tick(calls.some(isOpen));
  }

  #layout() {
    return h(
      "section",
      { class: "timeline", "aria-labelledby": "timeline-title" },
      h(
        "div",
        { class: "row head" },
        h("h3", { id: "timeline-title" }, "Calls"),
        h("span", { class: "spring" }),
        h("button", { type: "button", class: "small", onclick: () => this.#export() }, "Export JSON"),
      ),
      h(
        "div",
        { class: "row" },
        h("label", { for: "filter", class: "unseen" }, "Filter"),
        this.filter,
        h("label", { for: "which", class: "unseen" }, "Which calls"),
        this.which,
        h("label", { class: "check" }, this.args, "arguments"),
      ),
      h(
        "p",
        { class: "legend quiet", "aria-hidden": "true" },
        ...[
          ["waits", "waits"],
          ["runs", "runs in the page"],
          ["after", "still runs, agent answered"],
          ["unread", "answer not acknowledged"],
        ].map(([kind, text]) => h("span", {}, h("i", { class: `key ${kind}` }), text)),
      ),
      this.empty,
      this.list,
      this.scale,
    );
  }

  #shown() {
    const words = this.filter.value.trim().toLowerCase();
    const matches = (call) =>
      (this.which.value === "all" || (this.which.value === "open" ? isOpen(call) : call.code !== undefined)) &&
      `${call.tool} ${call.invocationId} ${call.code ?? ""}`.toLowerCase().includes(words);
    return [...this.calls.values()]
      .sort((one, other) => other.acceptedAt - one.acceptedAt)
      .filter(matches)
      .slice(0, SHOWN);
  }

  #row(call, longest) {
    const row = this.#rows.get(call.invocationId) ?? this.#newRow(call);
    const { parts } = row;
    const open = isOpen(call);
    const length = (call.settledAt ?? Date.now()) - call.acceptedAt;
    parts.length.textContent = `${duration(length)}${open ? "…" : ""}`;
    parts.code.textContent = call.code ?? (open ? stateOf(call) : "ok");
    parts.code.dataset.state = call.code ? "failed" : open ? "running" : "ok";
    parts.button.setAttribute("aria-label", `${call.tool}, ${parts.code.textContent}, ${parts.length.textContent}`);
    parts.bar.replaceChildren(...segmentsOf(call, longest));
    if (!parts.details.hidden && parts.details.dataset.seen !== JSON.stringify(call)) this.#fill(parts.details, call);
    return row.element;
  }

  #newRow(call) {
    const parts = {
      bar: h("span", { class: "bar" }),
      length: h("span", { class: "length" }),
      code: h("span", { class: "code" }),
      details: h("div", { class: "details", hidden: true }),
    };
    const at = new Date(call.acceptedAt).toLocaleTimeString([], { hour12: false });
    parts.button = h(
      "button",
      { type: "button", class: "call", "aria-expanded": "false" },
      h("span", { class: "head" }, h("b", {}, call.tool), parts.code),
      h("span", { class: "quiet" }, at),
      parts.bar,
      parts.length,
    );
    parts.button.addEventListener("click", () => {
      parts.details.hidden = !parts.details.hidden;
      parts.button.setAttribute("aria-expanded", String(!parts.details.hidden));
      this.#fill(parts.details, this.calls.get(call.invocationId));
    });
    const element = h("li", { "data-invocation": call.invocationId }, parts.button, parts.details);
    const row = { element, parts };
    this.#rows.set(call.invocationId, row);
    return row;
  }

  #fill(details, call) {
    details.dataset.seen = JSON.stringify(call);
    const facts = STAGES.filter(([field]) => call[field] !== undefined).map(([field, name]) => [
      name,
      `+ ${duration(call[field] - call.acceptedAt)}`,
    ]);
    facts[0][1] = new Date(call.acceptedAt).toISOString();
    facts.push(["limit", duration(call.timeoutMs)], ["invocation", call.invocationId]);
    if (call.replays) facts.push(["answered again", `${call.replays}×`]);
    if (call.cancelReason) facts.push(["page was told to stop", call.cancelReason]);
    if (call.args !== undefined) facts.push(["arguments", call.args]);
    const answer = h("pre", { class: "answer", tabindex: 0, hidden: true, "aria-label": "Its answer" });
    const read = async () => {
      answer.textContent = await this.#link.result(call.invocationId).catch((error) => error.message);
      answer.hidden = false;
    };
    details.replaceChildren(
      h("dl", {}, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      h(
        "p",
        { class: "row" },
        h("button", { type: "button", class: "small", onclick: read }, "Read the answer"),
        copyButton("Copy the id", () => call.invocationId),
      ),
      answer,
    );
  }

  #tick(wanted) {
    clearTimeout(this.#timer);
    if (wanted && this.element.isConnected) this.#timer = setTimeout(() => this.draw(), TICK_MS);
  }

  #export() {
    const text = JSON.stringify(this.#shown(), null, 2);
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    h("a", { href: url, download: "pedelec-calls.json" }).click();
    URL.revokeObjectURL(url);
  }
}

const isOpen = (call) => call.settledAt === undefined || call.onPage;

function stateOf(call) {
  if (call.settledAt !== undefined) return "still runs";
  return call.deliveredAt === undefined ? "waits" : "runs";
}

function endOf(call) {
  return Math.max(call.settledAt ?? Date.now(), call.lateAt ?? 0, call.onPage ? Date.now() : 0);
}

function segmentsOf(call, longest) {
  const share = (ms) => `${(100 * Math.max(0, ms)) / longest}%`;
  const segment = (kind, from, to) => {
    const element = h("i", { class: kind });
    element.style.left = share(from - call.acceptedAt);
    element.style.width = `max(3px, ${share(to - from)})`;
    return element;
  };
  const { acceptedAt, deliveredAt, settledAt, lateAt } = call;
  const now = Date.now();
  const answered = settledAt ?? now;
  const segments = [];
  if (deliveredAt === undefined || deliveredAt - acceptedAt > 2)
    segments.push(segment("waits", acceptedAt, deliveredAt ?? answered));
  if (deliveredAt !== undefined) segments.push(segment(call.code ? "runs failed" : "runs", deliveredAt, answered));
  if (lateAt !== undefined || (call.onPage && settledAt !== undefined))
    segments.push(segment("after", answered, lateAt ?? now));
  if (settledAt !== undefined && !call.acknowledged) {
    const mark = segment("unread", answered, answered);
    mark.style.width = "";
    segments.push(mark);
  }
  return segments;
}
