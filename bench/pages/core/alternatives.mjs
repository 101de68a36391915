// The same echo by what a page has without Core: WebMCP's executeTool, and messages to a worker that runs Python.
// Neither has anybody outside the browser; each call is made by the page itself.

const { modelContext } = document;
const inputSchema = { type: "object", properties: { n: { type: "integer" }, text: { type: "string" } } };
await modelContext.registerTool({ name: "echo", description: "Give the arguments back.", inputSchema, execute: (args) => args });
const tool = (await modelContext.getTools()).find(({ name }) => name === "echo");

const worker = new Worker("alternatives_worker.mjs", { type: "module" });
const nextMessage = () => new Promise((resolve) => worker.addEventListener("message", resolve, { once: true }));
await nextMessage(); // its Python is ready

const calls = {
  webmcp: (args) => modelContext.executeTool(tool, args),
  worker: async (args) => {
    const answered = nextMessage();
    worker.postMessage(JSON.stringify(args));
    return JSON.parse((await answered).data);
  },
};

/** The mean duration of calls that are made one after the other, in milliseconds: the page's clock is coarse. */
bench.meanMs = async (way, count) => {
  const begun = performance.now();
  for (let n = 0; n < count; n += 1) await calls[way]({ n, text: "hello" });
  return (performance.now() - begun) / count;
};
bench.state = "ready";
