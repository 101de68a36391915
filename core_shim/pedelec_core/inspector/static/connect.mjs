// What to paste where, so that an agent gets at the page: MCP clients' configurations, with this Core's commands.
//
// The shapes are those of docs/agents.md.

import { copyButton, h, shellWord } from "./dom.mjs";

const json = (value) => JSON.stringify(value, null, 2);
const line = (words) => words.map(shellWord).join(" ");
const server = ([command, ...args]) => ({ command, args });

const CLIENTS = {
  "Claude Code": (mcp) => line(["claude", "mcp", "add", "--scope", "user", "pedelec", "--", ...mcp]),
  Codex: (mcp) => line(["codex", "mcp", "add", "pedelec", "--", ...mcp]),
  Cursor: (mcp) => json({ mcpServers: { pedelec: server(mcp) } }),
  "VS Code": (mcp) => json({ servers: { pedelec: { type: "stdio", ...server(mcp) } } }),
  "Gemini CLI": (mcp) => line(["gemini", "mcp", "add", "-s", "user", "pedelec", ...mcp]),
  "Claude Desktop": (mcp) => json({ mcpServers: { pedelec: server(mcp) } }),
};

/** A section of the inspector. */
export class Connect {
  #commands = null;

  constructor() {
    this.client = h(
      "select",
      { id: "client", onchange: () => this.#show() },
      ...Object.keys(CLIENTS).map((name) => h("option", {}, name)),
    );
    this.text = h("pre", { tabindex: 0, "aria-label": "Configuration" });
    this.element = h(
      "details",
      { class: "connect", hidden: true },
      h("summary", {}, "Hand this page to an agent"),
      h("p", { class: "quiet" }, "Any agent with a shell can use the command above. An MCP client needs this once:"),
      h(
        "div",
        { class: "row" },
        h("label", { for: "client" }, "Client"),
        this.client,
        h("span", { class: "spring" }),
        copyButton("Copy", () => this.text.textContent),
      ),
      this.text,
    );
  }

  update({ commands }) {
    this.#commands = commands;
    this.element.hidden = false;
    this.#show();
  }

  /** Open it, and bring it into sight. */
  show() {
    this.element.open = true;
    this.element.scrollIntoView({ block: "nearest" });
    this.element.querySelector("summary").focus({ preventScroll: true });
  }

  #show() {
    this.text.textContent = CLIENTS[this.client.value](this.#commands.mcp);
  }
}
