// A worker whose Python, bare Pyodide, echoes JSON.

import { loadPyodide } from "/runtime/pyodide.mjs";

const pyodide = await loadPyodide({ indexURL: "/runtime/" });
const echo = pyodide.runPython("import json\nlambda text: json.dumps(json.loads(text))");
addEventListener("message", ({ data }) => postMessage(echo(data)));
postMessage("ready");
