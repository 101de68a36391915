// `import { Pedelec, defineTool } from ".../pedelec.mjs"`: the loader as a module. Starts it where no tag
// did.

await import(new URL(`pedelec.js${new URL(import.meta.url).search}`, import.meta.url).href);

export const {
  Pedelec,
  PedelecError,
  ToolError,
  attach,
  audio,
  defineTool,
  image,
  mixed,
  ready,
  recovery,
  resource,
  version,
} = globalThis[Symbol.for("pedelec.page")];
