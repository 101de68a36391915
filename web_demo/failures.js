// Everything that can go wrong with a call, at the press of a button: what the agent reads, and what `onError` heard.
//
// Each press is real: the calls go through Core, made by the inspector beside the board.
(() => {
  const PENDING = "failures.pending";
  const find = (id) => document.getElementById(id);
  const inspector = document.querySelector("pedelec-inspector");
  const reads = find("agent-reads");
  const heard = find("page-heard");
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  let chosen = null;

  function say(text, state = "") {
    find("failure-state").textContent = text;
    find("failure-state").dataset.state = state;
  }

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  function show(line, note) {
    const item = make("li");
    if (note) item.append(make("p", { textContent: note }));
    const exact = make("pre", { textContent: line, tabIndex: 0 });
    const told = inspector.explain(line);
    if (told === null) {
      item.append(exact);
    } else {
      const more = make("details");
      more.append(make("summary", { textContent: "The exact line" }), exact);
      item.append(make("p", { className: "code", textContent: codeOf(line) }), told, more);
    }
    reads.append(item);
  }

  function codeOf(line) {
    const { ok, error, result } = JSON.parse(line);
    const { code, class: kind } = error ?? result.error;
    return `${code} · ${kind ?? "unclassified"} · made by ${ok ? "the page" : "Core"}`;
  }

  const once = (kind, wanted) =>
    new Promise((resolve) => {
      const listen = ({ detail }) => {
        if (!wanted(detail)) return;
        inspector.removeEventListener(kind, listen);
        resolve(detail);
      };
      inspector.addEventListener(kind, listen);
    });

  async function late(line) {
    const { invocationId } = JSON.parse(line);
    say("The agent was answered. The page goes on; its late result is waited for.");
    await once("calls", (calls) => calls.some((call) => call.invocationId === invocationId && call.lateAt));
    show(await inspector.result(invocationId), "Asked later, with pedelec-cli tool-result:");
  }

  const SCENARIOS = {
    "no-handler": async () => show(await inspector.call("unwritten")),
    raise: async () => show(await inspector.call("fail", { what: "printer" })),
    "bad-arguments": async () => show(await inspector.call("move_shape", { shapeID: "s1", x: 9000, y: "80" })),
    value: async () => show(await inspector.call("return_value", { kind: find("kind").value })),
    timeout: async () => {
      const line = await inspector.call("take_long", { ms: 1500 }, { timeoutMs: 500 });
      show(line);
      await late(line);
    },
    cut: async () => {
      const answer = inspector.call("take_long", { ms: 1500 });
      await once("calls", (calls) => calls.some(({ tool, state }) => tool === "take_long" && state === "delivered"));
      window.cutSockets();
      show(await answer, "The socket was cut while it ran. The page came back by itself and delivered:");
    },
    reload: async () => {
      const answer = inspector.call("take_long", { ms: 20_000 });
      answer.catch(() => {}); // this page does not live to see it
      const isIt = ({ tool, state }) => tool === "take_long" && state === "delivered";
      const calls = await once("calls", (changed) => changed.some(isIt));
      sessionStorage.setItem(PENDING, calls.find(isIt).invocationId);
      location.reload();
    },
    tabs: async () => {
      window.open(location.href);
      show(await inspector.call("list_shapes"), "Two tabs share the session. One runs the calls, the other watches:");
    },
    ambiguous: async () => show(await inspector.call("find_shape", { name: "blue panel" })),
    partial: async () => {
      await withSwitch("prices-away", async () => show(await inspector.call("dashboard")));
    },
    "save-fails-now": async () => {
      await withSwitch("save-fails", async () => show(await inspector.call("save")));
    },
    denied: async () => {
      say("Say no to the question that the page asks.");
      show(await inspector.call("delete_shape", { shapeId: "s3" }));
    },
    loop: async () => {
      for (let round = 1; round <= 5; round++) {
        show(await inspector.call("fail", { what: "same thing" }), `The same call, ${round} of 5:`);
      }
    },
  };

  async function withSwitch(id, run) {
    const before = find(id).checked;
    find(id).checked = true;
    await run();
    find(id).checked = before;
  }

  async function run(button) {
    if (chosen !== null) return;
    chosen = button;
    button.setAttribute("aria-busy", "true");
    begin(button.textContent);
    try {
      await inspector.ready();
      await SCENARIOS[button.dataset.failure]();
      await wait(100); // for what onError hears of it
      say(`${button.textContent}: done.`, "done");
    } catch (error) {
      say(error.message, "failed");
    }
    button.removeAttribute("aria-busy");
    chosen = null;
  }

  function begin(title) {
    reads.replaceChildren();
    heard.replaceChildren(make("li", { className: "empty", textContent: "Nothing." }));
    find("outcome").hidden = false;
    say(`${title}…`);
    find("outcome").scrollIntoView({ block: "nearest" });
  }

  async function afterReload(invocationId) {
    begin("Reload in mid-call");
    await inspector.ready();
    for (;;) {
      const line = await inspector.result(invocationId);
      if (JSON.parse(line).error?.code !== "TOOL_RESULT_PENDING") {
        show(line, "The page was reloaded while the call ran. Its agent was told at once:");
        say("Reload in mid-call: done.", "done");
        return;
      }
      await once("calls", () => true);
    }
  }

  inspector.addEventListener("heard", ({ detail: { kind, told } }) => {
    if (kind !== "onError") return;
    heard.querySelector(".empty")?.remove();
    heard.append(make("li", { textContent: `${told.code}: ${told.message}` }));
  });
  for (const button of document.querySelectorAll("[data-failure]")) button.addEventListener("click", () => run(button));
  window.failures = {
    kinds: (text) => find("kind").replaceChildren(...JSON.parse(text).map((kind) => new Option(kind))),
  };
  const pending = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  if (pending !== null) customElements.whenDefined("pedelec-inspector").then(() => afterReload(pending));
})();
