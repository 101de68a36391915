// `node snapshot.mjs PYODIDE LOADER OUT SDK WHEEL…`: writes into OUT the SDK's wheel, compiled; the memory of a Python
// that has imported it and the compiled WHEELs; and what a page needs besides to wake that up. Then does so, with
// LOADER's restore.mjs, to see that it works.
//
// Owns what is recorded of a Python; what a page does with it is restore.mjs's.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { given, report, runFile, startPyodide } from "./workshop.mjs";

const STEPS = 4;
const PART = 8 << 20; // bytes: browsers keep several smaller files more readily than a big one
const PAGE = 4096; // bytes, as most systems give memory out
// A page's scripts share the namespace that the exercise ran in.
const CLEAR = `
for name in [name for name in globals() if not name.startswith("__")]:
    del globals()[name]
del name
import gc
gc.collect()
del gc
`;
const [folder, loader, out, sdk, ...wheels] = given;

function valuesOf(got) {
  return new Map(Object.entries(got).map(([name, { value }]) => [name, value]));
}

function changed(got, before) {
  return Object.fromEntries([...valuesOf(got)].filter(([name, value]) => before.get(name) !== value));
}

// Emscripten's `struct dso`, as its loader fills it in.
function librariesOf({ LDSO, HEAPU32 }) {
  const loaded = Object.entries(LDSO.loadedLibsByHandle).filter(([handle]) => handle !== "0");
  return loaded.map(([handle, { name }]) => {
    const at = Number(handle) >>> 2;
    const [memoryBase, memorySize, tableBase, tableSize] = HEAPU32.subarray(at + 3, at + 7);
    return { name, handle: Number(handle), memoryBase, memorySize, tableBase, tableSize };
  });
}

async function make() {
  report("starting Pyodide", 0, STEPS);
  const pyodide = await startPyodide(folder, { _makeSnapshot: true, env: { PYTHONHASHSEED: "0" } });
  const { _module: module } = pyodide;
  const tableLength = module.wasmTable.length;
  const got = valuesOf(module.GOT);
  report("importing what pages use", 1, STEPS);
  runFile(pyodide, "compile_wheel.py");
  runFile(pyodide, "exercise.py");
  for (const wheel of wheels) {
    pyodide.FS.writeFile("/tmp/wheel.whl", fs.readFileSync(wheel));
    pyodide.runPython("unpack('/tmp/wheel.whl')");
  }
  const name = path.basename(sdk);
  pyodide.FS.writeFile(`/tmp/${name}`, fs.readFileSync(sdk));
  const compiled = pyodide.runPython(`compile_wheel("/tmp/${name}", "/tmp/out")`);
  write(path.basename(compiled), pyodide.FS.readFile(compiled));
  pyodide.runPython(`unpack("${compiled}")`);
  pyodide.runPython("exercise()");
  const names = pyodide.runPython("'\\n'.join(files())").split("\n");
  pyodide.runPython(CLEAR);
  report("taking the snapshot", 2, STEPS);
  const taken = pyodide.makeMemorySnapshot();
  const heapLength = module.HEAPU8.length;
  const head = taken.subarray(0, taken.length - heapLength);
  const heap = taken.subarray(head.length);
  const ranges = usedRanges(heap);
  const memory = Buffer.concat([head, ...ranges.map(([start, length]) => heap.subarray(start, start + length))]);
  const files = names.map((name) => [name, module.FS.readFile(name)]);
  const libraries = librariesOf(module);
  libraries.forEach(({ name }, index) => write(`snapshot-library-${index}.wasm`, module.FS.readFile(name)));
  const parts = [];
  for (let start = 0; start < memory.length; start += PART) {
    parts.push(`snapshot-${parts.length}.bin`);
    write(parts.at(-1), memory.subarray(start, start + PART));
  }
  write("snapshot-files.bin", Buffer.concat(files.map(([, bytes]) => bytes)));
  const record = {
    buildId: module.API.config.BUILD_ID,
    parts,
    headLength: head.length,
    ranges,
    heapLength,
    tableLength,
    fullTableLength: module.wasmTable.length,
    got: changed(module.GOT, got),
    packages: [...wheels, sdk].map((wheel) => path.basename(wheel).split("-")[0].replaceAll("_", "-")),
    libraries: libraries.map((library, index) => ({ ...library, file: `snapshot-library-${index}.wasm` })),
    files: files.map(([name, { length }]) => [name, length]),
  };
  write("snapshot.json", JSON.stringify(record));
}

/** Where a heap has anything but zeros, as `[start, length]` in whole pages. */
function usedRanges(heap) {
  const ranges = [];
  const zeros = Buffer.alloc(PAGE);
  for (let at = 0; at < heap.length; at += PAGE) {
    if (zeros.equals(heap.subarray(at, at + PAGE))) continue;
    const last = ranges.at(-1);
    if (last !== undefined && last[0] + last[1] === at) last[1] += PAGE;
    else ranges.push([at, PAGE]);
  }
  return ranges;
}

function write(name, bytes) {
  fs.writeFileSync(path.join(out, name), bytes);
}

async function check() {
  report("waking it up", 3, STEPS);
  const { restoring, wake } = await import(pathToFileURL(path.join(loader, "restore.mjs")).href);
  const read = (name) => new Uint8Array(fs.readFileSync(path.join(out, name)));
  const record = JSON.parse(fs.readFileSync(path.join(out, "snapshot.json"), "utf8"));
  const libraries = record.libraries.map(({ file }) => new WebAssembly.Module(read(file)));
  const { default: factory } = await import(pathToFileURL(`${folder}/pyodide.asm.mjs`).href);
  const pyodide = await startPyodide(folder, {
    _loadSnapshot: Promise.resolve(Buffer.concat(record.parts.map(read))),
    createPyodideModule: restoring(factory, record, libraries),
  });
  wake(pyodide, record, read("snapshot-files.bin"), "en-US");
  report("waking it up", STEPS, STEPS);
}

await make();
await check();
process.exit(0); // Pyodide keeps Node's event loop busy
