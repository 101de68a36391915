// The board: draws what Python holds and tells Python what the person did. Keeps no state of its own.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const svg = document.getElementById("board");
  const STEP = 10;
  const FLASH = [{ stroke: "var(--accent)", strokeWidth: 12 }, { stroke: "var(--accent)", strokeWidth: 2 }];
  const moves = matchMedia("(prefers-reduced-motion: no-preference)");
  const find = (id) => document.getElementById(id);
  let told = () => () => {}; // told(what)(…): tell Python that the person did something

  const KINDS = {
    circle: ["circle", { r: 34 }],
    square: ["rect", { x: -32, y: -32, width: 64, height: 64, rx: 6 }],
    triangle: ["path", { d: "M0,-38 L38,32 L-38,32 Z" }],
  };

  function outline(shape) {
    const [name, attributes] = KINDS[shape.kind];
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries({ ...attributes, fill: shape.color })) node.setAttribute(key, value);
    return node;
  }

  function nodeOf(shape) {
    const existing = find(shape.id);
    if (existing) return existing;
    const node = document.createElementNS(SVG, "g");
    node.id = shape.id;
    node.tabIndex = 0;
    node.setAttribute("role", "button");
    const label = document.createElementNS(SVG, "text");
    label.textContent = shape.id;
    if (shape.kind === "triangle") label.setAttribute("y", "12");
    node.append(outline(shape), label);
    node.addEventListener("focus", () => told("select")(shape.id));
    node.addEventListener("keydown", keyPressed);
    node.addEventListener("pointerdown", grabbed);
    node.addEventListener("pointermove", dragged);
    node.addEventListener("lostpointercapture", () => node.classList.remove("held", "moving"));
    svg.append(node);
    return node;
  }

  function keyPressed(event) {
    const node = event.currentTarget;
    const step = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key];
    if (step) {
      event.preventDefault();
      if (!event.repeat) told("remember")(`your move of ${node.id}`);
      told("move")(node.id, Number(node.dataset.x) + step[0], Number(node.dataset.y) + step[1]);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      told("delete")();
      svg.querySelector("g")?.focus();
    }
  }

  function grabbed(event) {
    const node = event.currentTarget;
    node.setPointerCapture(event.pointerId);
    node.classList.add("held");
  }

  function dragged(event) {
    const node = event.currentTarget;
    if (!node.hasPointerCapture(event.pointerId)) return;
    if (!node.classList.contains("moving")) told("remember")(`your move of ${node.id}`);
    node.classList.add("moving");
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    told("move")(node.id, Math.round(point.x), Math.round(point.y));
  }

  window.board = {
    /** Draw all shapes; `text` is a JSON array of them. */
    draw(text, selected) {
      const shapes = JSON.parse(text);
      for (const shape of shapes) {
        const node = nodeOf(shape);
        node.dataset.x = shape.x;
        node.dataset.y = shape.y;
        node.style.transform = `translate(${shape.x}px, ${shape.y}px)`;
        node.setAttribute("aria-label", `${shape.kind} ${shape.id} at ${shape.x}, ${shape.y}`);
        node.setAttribute("aria-pressed", String(shape.id === selected));
      }
      const ids = new Set(shapes.map(({ id }) => id));
      for (const node of svg.querySelectorAll("g")) if (!ids.has(node.id)) node.remove();
      find("delete").disabled = !selected;
    },
    /** The parts list; `text` is a JSON array of its rows. */
    table(text) {
      const rows = JSON.parse(text).map(({ shape_id, name, material, grams, price }) => {
        const cells = [shape_id, name, material, grams, price.toFixed(2)];
        const row = document.createElement("tr");
        row.append(...cells.map((cell) => Object.assign(document.createElement("td"), { textContent: cell })));
        return row;
      });
      find("parts").replaceChildren(...rows);
    },
    history(undo, redo) {
      for (const [id, what, verb] of [["undo", undo, "Undo"], ["redo", redo, "Redo"]]) {
        find(id).disabled = !what;
        find(id).title = what ? `${verb} ${what}` : `Nothing to ${id}`;
      }
    },
    listen(to) {
      told = to;
    },
    remember: (what) => told("remember")(what),
    changed: () => told("draw")(),
    /** A shape as SVG, without what only this page needs of it. */
    outlineOf(id) {
      const { dataset, firstChild } = find(id);
      const group = document.createElementNS(SVG, "g");
      group.setAttribute("transform", `translate(${dataset.x} ${dataset.y})`);
      group.append(firstChild.cloneNode());
      return group.outerHTML;
    },
    selected: () => svg.querySelector('[aria-pressed="true"]')?.id ?? null,
    isOn: (id) => find(id).checked,
    say(state, text) {
      const line = find("state");
      line.dataset.state = state;
      line.textContent = text;
      find("progress").hidden = state !== "starting";
      document.body.dataset.state = state;
    },
    /** Core knows the page's session: `command` calls a tool of it from a terminal. */
    canBeCalled(command) {
      find("command").textContent = command;
      find("watch").disabled = false;
    },
    /** Show which shape an agent means. */
    flash(id) {
      if (moves.matches) find(id).firstChild.animate(FLASH, { duration: 1500, easing: "ease-out" });
    },
    logCall(text) {
      const list = find("calls");
      list.querySelector(".empty")?.remove();
      list.prepend(Object.assign(document.createElement("li"), { textContent: text }));
      while (list.children.length > 4) list.lastChild.remove();
    },
  };

  for (const kind of Object.keys(KINDS)) find(`add-${kind}`).addEventListener("click", () => told("add")(kind));
  for (const id of ["undo", "redo", "delete"]) find(id).addEventListener("click", () => told(id)());
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    if (event.composedPath()[0].matches?.("input, textarea")) return; // it has an undo of its own
    event.preventDefault();
    told(event.shiftKey ? "redo" : "undo")();
  });

  // The share of each stage in the start, roughly; a stage that is not known moves nothing.
  const STAGES = { runtime: [0, 0.55], snapshot: [0.55, 0.85], python: [0.55, 0.75], packages: [0.75, 0.82], sdk: [0.82, 0.88], scripts: [0.88, 1] };
  const WORDS = { runtime: "Loading Python", snapshot: "Starting Python", python: "Starting Python", packages: "Loading packages", sdk: "Loading the SDK", scripts: "Starting the board" };
  addEventListener("pedelec:progress", ({ detail: { stage, loaded, total } }) => {
    if (find("state").dataset.state !== "starting" || !(stage in STAGES)) return;
    const [from, to] = STAGES[stage];
    find("progress").value = Math.max(find("progress").value, from + (to - from) * (total ? loaded / total : 0));
    window.board.say("starting", `${WORDS[stage]}…`);
  });
  addEventListener("pedelec:failed", ({ detail }) => window.board.say("failed", `Could not start: ${detail.error.message}`));
  find("connect").addEventListener("click", () => document.querySelector("pedelec-inspector").showConnect());
  find("copy").addEventListener("click", async ({ target }) => {
    const copied = navigator.clipboard.writeText(find("command").textContent);
    target.textContent = await copied.then(() => "Copied", () => "Not allowed");
    setTimeout(() => (target.textContent = "Copy"), 1500);
  });
})();
