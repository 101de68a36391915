// Sessions whose tool `echo` is JavaScript.

import { Pedelec, defineTool } from "/pedelec.mjs";

bench.sessionCount = 4; // a session runs 16 calls at a time
bench.manifest = {
  name: "echo",
  description: "Give the arguments back.",
  argsSchema: {
    type: "object",
    properties: { n: { type: "integer" }, text: { type: "string" } },
    required: ["n", "text"],
    additionalProperties: false,
  },
};

const client = new Pedelec();
const echo = defineTool({ ...bench.manifest, handler: (args) => args });

async function openSession() {
  const { sessionId } = await client.createSession({ skills: { guidance: "", tools: [echo] } });
  return sessionId;
}

bench.javascriptThreads = Promise.all(Array.from({ length: bench.sessionCount }, openSession));
