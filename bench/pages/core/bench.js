// What each page of the bench tells the process that drives it. A classic script, before all others.

globalThis.bench = { state: "starting" };

addEventListener("pedelec:failed", ({ detail: { error, script } }) => {
  bench.state = `failed: ${script ?? "start"}: ${error.message}`;
});
