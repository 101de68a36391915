// The element itself: puts the parts together, and shows how Core, the session and its tabs are.
//
// Owns which session is meant, and what the page's own author gets to say and ask (inspector.d.ts). Everything is
// inside a shadow root, with a style sheet that no page's CSP has to allow inline.

import { explain } from "./answer.mjs";
import { Connect } from "./connect.mjs";
import { Console } from "./console.mjs";
import { h } from "./dom.mjs";
import { Link } from "./link.mjs";
import { REASONS } from "./reach.mjs";
import { Timeline } from "./timeline.mjs";

const MAX_HEARD = 50;

const sheet = new CSSStyleSheet();
const styled = fetch(new URL("inspector.css", import.meta.url))
  .then((response) => response.text())
  .then((text) => sheet.replace(text));

export class PedelecInspector extends HTMLElement {
  #thread = null;
  #label = null;
  #coreUrl = new URL(import.meta.url).origin;
  #link = new Link(this.#coreUrl);

  constructor() {
    super();
    this.timeline = new Timeline(this.#link);
    this.console = new Console(this.#link, () => this.thread);
    this.connect = new Connect();
    this.state = h("ul", { class: "state" });
    this.session = h("select", { id: "session", onchange: () => (this.thread = this.session.value) });
    this.sessionRow = h("p", { class: "row" }, h("label", { for: "session" }, "Session"), this.session);
    this.empty = h("p", { class: "empty" });
    this.heardList = h("ol", {
      class: "heard",
      tabindex: 0,
      "aria-live": "polite",
      "aria-labelledby": "heard-title",
    });
    this.heardSection = h(
      "section",
      { "aria-labelledby": "heard-title", hidden: true },
      h("h3", { id: "heard-title" }, "What the page heard"),
      this.heardList,
    );
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    root.append(
      h(
        "div",
        { class: "inspector" },
        h("header", {}, h("h2", {}, "Inspector"), h("div", { role: "status" }, this.state)),
        this.sessionRow,
        this.empty,
        this.console.element,
        this.timeline.element,
        this.heardSection,
        this.connect.element,
      ),
    );
    this.#link.addEventListener("state", () => this.#changed());
    this.#link.addEventListener("core", ({ detail }) => {
      this.connect.update(detail);
      this.#changed();
    });
    this.#link.addEventListener("sessions", ({ detail }) => {
      this.#changed();
      this.dispatchEvent(new CustomEvent("sessions", { detail: detail.sessions }));
    });
    this.#link.addEventListener("calls", ({ detail }) => {
      this.timeline.update(detail.calls);
      this.dispatchEvent(new CustomEvent("calls", { detail: detail.calls }));
    });
    this.#changed();
  }

  async connectedCallback() {
    await styled;
    this.#link.open();
  }

  disconnectedCallback() {
    this.#link.close();
  }

  /** The session meant: the one that was set, where it lives, else the latest. */
  get thread() {
    const ids = this.#link.sessions.map(({ threadId }) => threadId);
    return ids.includes(this.#thread) ? this.#thread : (ids.at(-1) ?? null);
  }

  set thread(id) {
    this.#thread = id;
    this.#changed();
  }

  /** The SDK's id of this page, so that it can be told which tab runs the calls. */
  set instanceId(id) {
    crypto.subtle.digest("SHA-256", new TextEncoder().encode(id)).then((digest) => {
      this.#label = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 8);
      this.#changed();
    });
  }

  /** Show what a session of the JavaScript SDK tells its page, and mean that session. */
  attach(session) {
    this.thread = session.sessionId;
    session.onError((error) => this.heard("onError", error));
    session.onStatus((status) => this.heard("onStatus", { status }));
  }

  /** Show one thing that the page heard: an object with `code` and `message`, or with `status`. */
  heard(kind, told) {
    const text = told.status ?? `${told.code} — ${told.message}`;
    this.heardSection.hidden = false;
    const at = new Date().toLocaleTimeString([], { hour12: false });
    this.heardList.prepend(h("li", {}, h("span", { class: "quiet" }, `${at} ${kind} `), text));
    while (this.heardList.children.length > MAX_HEARD) this.heardList.lastChild.remove();
    this.dispatchEvent(new CustomEvent("heard", { detail: { kind, told } }));
  }

  /** Make a call in the console, in everybody's sight. Resolves with the answer's line. */
  call(tool, args = {}, { timeoutMs } = {}) {
    this.console.prepare(tool, args, timeoutMs);
    return this.console.runNow();
  }

  /** What an earlier call came to; the answer's line. */
  result(invocationId) {
    return this.#link.result(invocationId);
  }

  /** The command that makes a call from a terminal, once `ready`. */
  command(tool, args = {}) {
    return this.console.command(tool, JSON.stringify(args), "");
  }

  /** An element that tells the error in an answer's line, and the steps that the agent reads; null for a result. */
  explain(line) {
    return explain(line);
  }

  /** Show, opened, what to paste into an agent's configuration. */
  showConnect() {
    this.connect.show();
  }

  /** Resolves once Core is there and has told of a session. */
  async ready() {
    while (this.thread === null) {
      await new Promise((resolve) => this.#link.addEventListener("sessions", resolve, { once: true }));
    }
  }

  async #changed() {
    const { connected, sessions, core, reason } = this.#link;
    const session = sessions.find(({ threadId }) => threadId === this.thread);
    this.state.replaceChildren(...(connected ? this.#facts(core, session) : this.#missing(reason)));
    this.sessionRow.hidden = sessions.length < 2;
    this.session.replaceChildren(...sessions.map(({ threadId, appName }) => h("option", { value: threadId }, `${appName ?? "A page"} · ${threadId}`)));
    if (session !== undefined) this.session.value = session.threadId;
    this.empty.hidden = session !== undefined;
    this.empty.textContent = connected
      ? "No page here offers tools yet. Next step: new Pedelec().createSession({ tools: [ … ] })."
      : (REASONS[reason]?.next ?? "Connecting to Core…");
    if (connected) await this.console.refresh().catch(() => {}); // the connection broke: this comes again
    else this.console.element.hidden = true;
  }

  #missing(reason) {
    const { core, origin } = REASONS[reason] ?? { core: "Connecting to Core" };
    const facts = [fact(reason ? "failed" : "waiting", core)];
    if (origin) facts.push(fact(reason === "unapproved" ? "failed" : "ok", origin, location.origin));
    return facts;
  }

  #facts(core, session) {
    const why = this.#coreUrl === location.origin ? "Core’s own site, which needs no approval" : location.origin;
    const facts = [fact("ok", `Core ${core?.version ?? ""}`), fact("ok", "Origin approved", why)];
    if (session === undefined) return facts;
    const { pages } = session;
    const own = pages.find(({ page }) => page === this.#label);
    const runs = pages.some(({ state }) => state === "runs");
    const words = { runs: "this tab runs calls", watches: "this tab watches", silent: "this tab is silent", away: "this tab is away" };
    const text = own === undefined ? (runs ? "a page runs calls" : "no page answers") : words[own.state];
    facts.push(fact(runs ? "ok" : "waiting", text));
    const open = pages.filter(({ state }) => state !== "away");
    if (open.length > 1) facts.push(fact("ok", `${open.length} tabs`, open.map(({ page, state }) => `${page} ${state}`).join("\n")));
    return facts;
  }
}

const fact = (state, text, title) => h("li", { "data-state": state, title }, text);

customElements.define("pedelec-inspector", PedelecInspector);
