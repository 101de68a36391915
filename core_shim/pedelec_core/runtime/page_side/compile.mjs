// `node compile.mjs PYODIDE OUT WHEEL…`: writes each wheel into OUT with its modules compiled for Pyodide's Python.

import fs from "node:fs";
import path from "node:path";
import { given, report, runFile, startPyodide } from "./workshop.mjs";

const [folder, out, ...wheels] = given;
report("starting Pyodide", 0, wheels.length);
const pyodide = await startPyodide(folder);
runFile(pyodide, "compile_wheel.py");

for (const [index, wheel] of wheels.entries()) {
  const name = path.basename(wheel);
  report(`compiling ${name}`, index, wheels.length);
  pyodide.FS.writeFile(`/tmp/${name}`, fs.readFileSync(wheel));
  const compiled = pyodide.runPython(`compile_wheel("/tmp/${name}", "/tmp/out")`);
  fs.writeFileSync(path.join(out, path.basename(compiled)), pyodide.FS.readFile(compiled));
  report(`compiling ${name}`, index + 1, wheels.length);
}
process.exit(0); // Pyodide keeps Node's event loop busy
