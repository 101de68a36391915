// Tells the bench that the page is ready and at rest, in its title: everything needless is collected by then.
// Needs `--js-flags=--expose-gc`.

const COLLECTIONS = 5;
const PAUSE_MS = 500;

globalThis.rest = async () => {
  for (let count = 0; count < COLLECTIONS; count += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  document.title = "at rest";
};
