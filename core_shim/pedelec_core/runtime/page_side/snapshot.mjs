// `node snapshot.mjs PYODIDE LOADER OUT SDK WHEEL…`: writes into OUT the SDK's wheel, compiled; the memory of a Python
// that has imported it (`light`), and of one that has imported the compiled WHEELs besides (`full`); and what a page
// needs to wake these up. Then does so, with LOADER's restore.mjs, to see that it works.
//
// Owns what is recorded of a Python; what a page does with it is restore.mjs's.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { given, report, runFile, startPyodide } from "./workshop.mjs";

const STEPS = 6;
const PART = 8 << 20; // bytes: browsers keep several smaller files more readily than a big one
const PAGE = 4096; // bytes, as most systems give memory out
const PROBE = 1 << 20; // bytes
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
  const maker = new Maker(pyodide);
  report("importing the SDK", 1, STEPS);
  runFile(pyodide, "compile_wheel.py");
  const name = path.basename(sdk);
  pyodide.FS.writeFile(`/tmp/${name}`, fs.readFileSync(sdk));
  const compiled = pyodide.runPython(`compile_wheel("/tmp/${name}", "/tmp/out")`);
  write(path.basename(compiled), pyodide.FS.readFile(compiled));
  maker.exercise("use_sdk", [[name, pyodide.FS.readFile(compiled)]]);
  maker.take("light");
  report("importing what typed tools use", 2, STEPS);
  maker.exercise(
    "use_typed_tools",
    wheels.map((wheel) => [path.basename(wheel), fs.readFileSync(wheel)]),
  );
  report("taking the snapshots", 3, STEPS);
  maker.take("full");
}

/** Takes snapshots of one Python, each of more than the one before. */
class Maker {
  #pyodide;
  #tableLength;
  #got;
  #packages = [];
  #files = []; // snapshot.json's, as of the last snapshot
  #known = new Set();

  constructor(pyodide) {
    this.#pyodide = pyodide;
    this.#tableLength = pyodide._module.wasmTable.length;
    this.#got = valuesOf(pyodide._module.GOT);
  }

  /** Unpack wheels, and have a function of exercise.py use them. */
  exercise(use, wheels) {
    runFile(this.#pyodide, "exercise.py");
    for (const [name, bytes] of wheels) {
      this.#pyodide.FS.writeFile("/tmp/wheel.whl", bytes);
      this.#pyodide.runPython("unpack('/tmp/wheel.whl')");
      this.#packages.push(name.split("-")[0].replaceAll("_", "-"));
    }
    this.#pyodide.runPython(`${use}()`);
  }

  /** Write a snapshot of what is there now. */
  take(kind) {
    const { _module: module } = this.#pyodide;
    this.#files = [...this.#files, this.#takeFiles(`${kind}-files.bin`)];
    this.#pyodide.runPython(CLEAR);
    wipeFree(module);
    const taken = this.#pyodide.makeMemorySnapshot();
    const heapLength = module.HEAPU8.length;
    const head = taken.subarray(0, taken.length - heapLength);
    const heap = taken.subarray(head.length);
    const ranges = usedRanges(heap);
    const parts = ranges.map(([start, length]) => heap.subarray(start, start + length));
    const memory = Buffer.concat([head, ...parts]);
    for (let start = 0; start < memory.length; start += PART) {
      write(`${kind}-${start / PART}.bin`, memory.subarray(start, start + PART));
    }
    const libraries = librariesOf(module);
    libraries.forEach(({ name }, index) => write(`${kind}-library-${index}.wasm`, module.FS.readFile(name)));
    const record = {
      buildId: module.API.config.BUILD_ID,
      headLength: head.length,
      ranges,
      heapLength,
      tableLength: this.#tableLength,
      got: changed(module.GOT, this.#got),
      packages: this.#packages,
      libraries,
      files: this.#files,
    };
    write(`${kind}.json`, JSON.stringify(record));
  }

  /** Write into one file all that is in site-packages but was not in the snapshot before. */
  #takeFiles(file) {
    const names = this.#pyodide.runPython("'\\n'.join(files())").split("\n");
    const added = names.filter((name) => !this.#known.has(name));
    added.forEach((name) => this.#known.add(name));
    const contents = added.map((name) => [name, this.#pyodide.FS.readFile(name)]);
    write(file, Buffer.concat(contents.map(([, bytes]) => bytes)));
    return { file, index: contents.map(([name, { length }]) => [name, length]) };
  }
}

/** Overwrite with zeros what the allocator has free among what it has in use; it costs pages memory else. */
function wipeFree(module) {
  const top = module._malloc(PROBE); // about here what was never used begins
  module._free(top);
  const taken = [];
  for (let size = PROBE; size >= PAGE; size /= 2) {
    for (;;) {
      const at = module._malloc(size);
      taken.push(at);
      if (at + size > top) break;
      module.HEAPU8.fill(0, at, at + size);
    }
  }
  taken.forEach((at) => module._free(at));
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

async function check(kind, step) {
  report(`waking the ${kind} one up`, step, STEPS);
  const { NOTHING_YET, restore, wake } = await import(pathToFileURL(path.join(loader, "restore.mjs")).href);
  const read = (name) => new Uint8Array(fs.readFileSync(path.join(out, name)));
  const record = JSON.parse(fs.readFileSync(path.join(out, `${kind}.json`), "utf8"));
  const libraries = record.libraries.map((_, index) => new WebAssembly.Module(read(`${kind}-library-${index}.wasm`)));
  const names = fs.readdirSync(out).filter((name) => name.startsWith(`${kind}-`) && /-\d+\.bin$/.test(name));
  const parts = names.sort().map(read);
  const { default: factory } = await import(pathToFileURL(`${folder}/pyodide.asm.mjs`).href);
  const pyodide = await startPyodide(folder, {
    _loadSnapshot: NOTHING_YET,
    createPyodideModule: async (settings) => {
      const module = await factory(settings);
      restore(module, settings, record, parts, libraries);
      return module;
    },
  });
  const files = record.files.map(({ file }) => read(file));
  wake(pyodide, record, files, "en-US");
}

await make();
await check("light", 4);
await check("full", 5);
report("waking them up", STEPS, STEPS);
process.exit(0); // Pyodide keeps Node's event loop busy
