// The view: draws what Python holds and tells Python what the person did. Keeps no state of its own.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const svg = document.getElementById("board");
  const STEP = 10;
  let onMove = () => {};
  let onSelect = () => {};

  function outline(shape) {
    const kinds = {
      circle: ["circle", { r: 34 }],
      square: ["rect", { x: -32, y: -32, width: 64, height: 64, rx: 6 }],
      triangle: ["path", { d: "M0,-38 L38,32 L-38,32 Z" }],
    };
    const [name, attributes] = kinds[shape.kind];
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries({ ...attributes, fill: shape.color })) node.setAttribute(key, value);
    return node;
  }

  function group(shape) {
    const existing = document.getElementById(shape.id);
    if (existing) return existing;
    const node = document.createElementNS(SVG, "g");
    node.id = shape.id;
    node.tabIndex = 0;
    node.setAttribute("role", "button");
    const label = document.createElementNS(SVG, "text");
    label.textContent = shape.id;
    node.append(outline(shape), label);
    node.addEventListener("focus", () => onSelect(shape.id));
    node.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key];
      if (!step) return;
      event.preventDefault();
      onMove(shape.id, Number(node.dataset.x) + step[0], Number(node.dataset.y) + step[1]);
    });
    node.addEventListener("pointerdown", (event) => {
      node.setPointerCapture(event.pointerId);
      node.classList.add("held");
    });
    node.addEventListener("pointermove", (event) => {
      if (!node.hasPointerCapture(event.pointerId)) return;
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      onMove(shape.id, Math.round(point.x), Math.round(point.y));
    });
    node.addEventListener("lostpointercapture", () => node.classList.remove("held"));
    svg.append(node);
    return node;
  }

  window.board = {
    /** Draw all shapes; `text` is a JSON array of them. */
    draw(text, selected) {
      for (const shape of JSON.parse(text)) {
        const node = group(shape);
        node.dataset.x = shape.x;
        node.dataset.y = shape.y;
        node.style.transform = `translate(${shape.x}px, ${shape.y}px)`;
        node.setAttribute("aria-label", `${shape.color} ${shape.kind} ${shape.id} at ${shape.x}, ${shape.y}`);
        node.setAttribute("aria-pressed", String(shape.id === selected));
      }
    },
    listen(moved, selected) {
      onMove = moved;
      onSelect = selected;
    },
    /** A tool written in JavaScript: make one shape stand out for a moment. */
    flash({ shapeId }) {
      const node = document.getElementById(shapeId);
      if (!node || node.parentNode !== svg) throw new Error(`There is no shape ${shapeId}.`);
      node.classList.remove("flash");
      void node.getBoundingClientRect();
      node.classList.add("flash");
      return { flashed: shapeId };
    },
    say(state, text) {
      const line = document.getElementById("state");
      line.dataset.state = state;
      line.textContent = text;
      document.getElementById("progress").hidden = state !== "starting";
    },
    logCall(text) {
      const list = document.getElementById("calls");
      list.querySelector(".empty")?.remove();
      const item = document.createElement("li");
      item.textContent = text;
      list.prepend(item);
      while (list.children.length > 20) list.lastChild.remove();
    },
  };

  window.addEventListener("pedelec:progress", ({ detail }) => {
    if (document.getElementById("state").dataset.state !== "starting") return;
    const bar = document.getElementById("progress");
    if (detail.total) bar.value = detail.loaded / detail.total;
    else bar.removeAttribute("value");
    window.board.say("starting", `Starting: ${detail.stage}…`);
  });
  window.addEventListener("pedelec:failed", ({ detail }) => {
    window.board.say("failed", `Could not start: ${detail.error.message}`);
  });
  document.getElementById("copy").addEventListener("click", async ({ target }) => {
    await navigator.clipboard.writeText(document.getElementById("command").textContent);
    target.textContent = "Copied";
  });
})();
