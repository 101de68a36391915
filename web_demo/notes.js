// The text beside the board, and the two tools about it: written in JavaScript, served by the same Python SDK.
(() => {
  const area = document.getElementById("notes");
  const line = document.getElementById("selected-text");
  let place = { start: 0, end: 0 };

  function look() {
    place = { start: area.selectionStart, end: area.selectionEnd };
    const text = area.value.slice(place.start, place.end);
    line.textContent = text ? `Selected: “${text}”` : "Select some words: an agent can read and replace them.";
  }

  for (const kind of ["select", "keyup", "pointerup", "input", "focus"]) area.addEventListener(kind, look);
  document.addEventListener("selectionchange", () => document.activeElement === area && look());
  area.addEventListener("change", () => window.board.changed?.());

  window.notes = {
    text: () => area.value,
    show(text) {
      if (area.value !== text) area.value = text;
      look();
    },
    getSelection() {
      const { start, end } = place;
      return { shapeId: window.board.selected(), text: area.value.slice(start, end), start, end };
    },
    replaceSelection({ text }) {
      const { start, end } = place;
      if (start === end) {
        throw new pedelec.ToolError({
          code: "NOTHING_SELECTED",
          message: "No text is selected.",
          class: "userInput",
          recoverySteps: ["Ask the user to select the words to replace, then call replace_selection again."],
        });
      }
      window.board.remember("the agent’s change of the text");
      area.setRangeText(text, start, end, "select");
      look();
      window.board.changed();
      window.board.logCall(`replace_selection: ${text.length} characters`);
      return { start, end: start + text.length, length: area.value.length };
    },
  };
  look();
})();
