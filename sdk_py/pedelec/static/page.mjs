// What pedelec.js made for this page, for the modules beside it. (It is a classic script, which can export
// nothing.)

export const page = globalThis[Symbol.for("pedelec.page")];
export const { PedelecError, ToolError } = page;
