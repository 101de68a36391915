// `node fetch_own.mjs PYODIDE LOCK FOLDER NAME…`: has Pyodide fetch packages of its own distribution into FOLDER.
//
// Not from the workshop: nothing is made here, and what waits for the network needs clocks that run.

import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, lock, packageCacheDir, ...names] = process.argv.splice(2);
process.argv[1] = "python"; // Pyodide takes the rest of the command line for its own
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const lockFileContents = fs.readFileSync(lock, "utf8");
const pyodide = await loadPyodide({ indexURL: `${folder}/`, packageCacheDir, lockFileContents });
const failures = [];
for (const [index, name] of names.entries()) {
  fs.writeSync(1, `fetching ${name}\t${index}\t${names.length}\n`);
  await pyodide
    .loadPackage(name, { messageCallback: () => {}, errorCallback: (text) => failures.push(text) })
    .catch((error) => failures.push(String(error)));
}
if (failures.length > 0) process.stderr.write(`${failures.join("\n").slice(-2000)}\n`);
process.exit(failures.length > 0 ? 1 : 0); // Pyodide keeps Node's event loop busy
