// “Watch an agent work”: what an agent does with this page, and what it is told, for who has none at hand.
//
// The agent's part is written down here; its calls are real and go through Core, made by the inspector beside the board.
(() => {
  const find = (id) => document.getElementById(id);
  const button = find("watch");
  const caption = find("caption");
  const title = button.textContent;

  const STEPS = [
    ["“Move the violet moon up to the sun.” Which shape is that? The agent asks the page: only its Python knows.", "find_shape", { name: "violet moon" }],
    ["It is s4. The agent moves it.", "move_shape", { shapeId: "s4", x: 420, y: 150 }],
    ["“And the blue panel to the left.” There are two. Nobody guesses: the answer names the calls to choose from.", "find_shape", { name: "blue panel" }],
    ["The agent asks you; you mean the left one.", "move_shape", { shapeId: "s2", x: 90, y: 110 }],
    ["A slip: a place that is not on the board. Core refuses it before your page sees it, and says what would fit.", "move_shape", { shapeId: "s3", x: 900, y: 120 }],
    ["So the agent puts it right.", "move_shape", { shapeId: "s3", x: 560, y: 90 }],
    ["Slow work tells how far it is, and could be called off. Meanwhile the page is yours.", "export_board", { pauseMs: 400 }],
  ];
  const END = "Every call had its one answer. Undo takes the moves back; now hand the page to an agent of yours.";
  let running = null; // an AbortController, while it runs

  const pause = (ms, signal) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
      signal.addEventListener("abort", resolve);
    });

  function say(text) {
    caption.textContent = text;
    caption.hidden = false;
    find("hint").hidden = true;
  }

  async function play({ signal }) {
    const inspector = document.querySelector("pedelec-inspector");
    const readingMs = Number(button.dataset.readingMs);
    for (const [text, tool, args] of STEPS) {
      say(text);
      await pause(readingMs / 2, signal);
      if (signal.aborted) return "Stopped. What was done can be undone.";
      await inspector.call(tool, args);
      await pause(readingMs, signal);
    }
    return END;
  }

  async function run() {
    running = new AbortController();
    button.textContent = "Stop";
    say(await play(running).catch((error) => error.message));
    button.textContent = title;
    running = null;
  }

  button.addEventListener("click", () => (running ? running.abort() : run()));
})();
