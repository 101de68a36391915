// The way of questions to the person at the page, and whether there is one.
//
// Owns when the dialog's module is loaded, which dialogs are open, and the visibility of the page. What is asked,
// when and in which order is Python's to say; the dialog itself is dialog.mjs.

export class Asking {
  #open = new Map(); // key → what takes the dialog away, once it is there
  #answered = null;

  /** @param {(key: number, accepted: boolean | null, content: string) => void} answered null: it cannot be shown */
  onAnswer(answered) {
    this.#answered = answered;
  }

  /** Show a question, given as JSON text. */
  async open(key, text) {
    this.#open.set(key, () => {});
    try {
      const { openDialog } = await import("./dialog.mjs");
      if (!this.#open.has(key)) return; // over before it could be shown
      const close = openDialog(JSON.parse(text), (accepted, content) => this.#tell(key, accepted, content));
      this.#open.set(key, close);
    } catch (error) {
      console.error("[pedelec] A question to the user could not be shown.", error);
      this.#tell(key, null, {});
    }
  }

  /** Take a question away, answered or not. */
  close(key) {
    this.#open.get(key)?.();
    this.#open.delete(key);
  }

  #tell(key, accepted, content) {
    if (this.#open.has(key)) this.#answered(key, accepted, JSON.stringify(content));
  }
}

/** Whether nobody can see the page now; a worker has none. */
export const isHidden = () => (globalThis.document?.visibilityState ?? "hidden") === "hidden";

/** Call back whenever the page is hidden or shown. */
export function watchVisibility(changed) {
  globalThis.document?.addEventListener("visibilitychange", () => changed());
}
