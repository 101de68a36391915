// What the page keeps for itself in the browser, and its hand on its own connection to Core.
//
// Loaded before anything else: it remembers the sockets that the SDK opens, so that the page can cut them off to show
// what happens then. No page needs that; a demonstration of failures does.
(() => {
  const sockets = new Set();

  globalThis.WebSocket = class extends WebSocket {
    constructor(url, ...more) {
      super(url, ...more);
      if (!String(url).endsWith("/page")) return;
      sockets.add(this);
      this.addEventListener("close", () => sockets.delete(this));
    }

    send(frame) {
      if (sockets.has(this) && frame.startsWith('{"type":"hello"')) {
        window.pageInstanceId = JSON.parse(frame).pageInstanceId;
        inspector().then((element) => (element.instanceId = window.pageInstanceId));
      }
      super.send(frame);
    }
  };

  async function inspector() {
    await customElements.whenDefined("pedelec-inspector");
    return document.querySelector("pedelec-inspector");
  }

  window.cutSockets = () => {
    for (const socket of sockets) socket.close();
  };

  // Per tab, and copied by the browser into a tab that this one opens: a reload goes on where it was.
  // `undefined` where there is nothing: that is None in Python, which `null` is not.
  window.known = (name) => sessionStorage.getItem(`board.${name}`) ?? (name === "state" ? saved() : undefined);
  window.keep = (state) => sessionStorage.setItem("board.state", state);

  const saved = () => localStorage.getItem("board.saved") ?? undefined;
  window.save = (state) => {
    localStorage.setItem("board.saved", state);
    return state.length;
  };

  window.began = async (sessionId) => {
    sessionStorage.setItem("board.session", sessionId);
    const element = await inspector();
    element.thread = sessionId;
    await element.ready();
    const tell = () => window.board.canBeCalled(element.command("move_shape", { shapeId: "s1", x: 120, y: 80 }));
    element.addEventListener("sessions", tell); // where there are several, the command has to name one
    tell();
  };
  window.heard = async (kind, text) => (await inspector()).heard(kind, JSON.parse(text));
})();
