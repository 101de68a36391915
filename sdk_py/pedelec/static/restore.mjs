// Wakes a Python up from a memory snapshot (page_side/snapshot.mjs of Core's runtime makes it).
//
// Owns what a snapshot lacks and how each gap is closed: side modules, the size of the heap, the files. Knows
// neither Core nor the page, and runs under Node as well. All of it rests on one build of Pyodide: what differs from
// the record is refused, and the caller starts Python in the usual way.

const WORD = 4; // bytes
const PAGE_WORDS = 1024;
const READABLE_FILE = 0o100644; // S_IFREG and its permissions, as in inode(7)

/** The snapshot is none for this Pyodide. */
export class SnapshotMismatch extends Error {}

/** For `_loadSnapshot` of `loadPyodide`, which wants one before it makes the module; `restore` has the true one. */
export const NOTHING_YET = Promise.resolve(new Uint8Array(1));

/**
 * Have a module that `createPyodideModule` made, with `NOTHING_YET` for a snapshot, take its memory from one.
 *
 * @param {object} module
 * @param {object} settings that it was made with
 * @param {object} record the snapshot's `.json`
 * @param {Uint8Array[]} parts the memory
 * @param {WebAssembly.Module[]} libraries the compiled side modules, in the record's order
 */
export function restore(module, { API }, record, parts, libraries) {
  check(module, API, record);
  const { restoreSnapshot } = API;
  API.restoreSnapshot = () => {
    API.restoreSnapshot = restoreSnapshot; // lets go of what was fetched
    grow(module, record.heapLength);
    const found = restoreSnapshot(parts[0].subarray(0, record.headLength)); // the references; the heap is for us to fill
    record.libraries.forEach((library, index) => link(module, library, libraries[index]));
    for (const [name, value] of Object.entries(record.got)) module.GOT[name].value = value;
    // Last, since linking runs the libraries' data segments over it.
    fill(module.HEAPU8, record, parts);
    return found;
  };
}

function check({ wasmTable, GOT, LDSO }, { config }, record) {
  const differs = [
    ["build", config.BUILD_ID, record.buildId],
    ["function table", wasmTable?.length, record.tableLength],
    ["linker", typeof GOT === "object" && typeof LDSO?.loadedLibsByHandle === "object", true],
  ].find(([, found, wanted]) => found !== wanted);
  if (differs !== undefined) {
    const [what, found, wanted] = differs;
    throw new SnapshotMismatch(`the ${what} is ${found}, the snapshot's ${wanted}`);
  }
}

// The build ignores INITIAL_MEMORY. Whatever the allocator notes here, the snapshot's notes are laid over it.
function grow(module, length) {
  while (module.HEAPU8.length < length) {
    const got = module._malloc(length - module.HEAPU8.length);
    if (got === 0) throw new SnapshotMismatch("no memory for the heap");
  }
}

function fill(heap, { ranges, headLength }, parts) {
  const copy = copying(parts, headLength);
  let end = 0;
  for (const [start, length] of ranges) {
    clear(heap, end, start);
    copy(heap.subarray(start, start + length));
    end = start + length;
  }
  clear(heap, end, heap.length);
}

// Fills one target after the other with what the parts hold, read as one.
function copying([part, ...rest], from) {
  return (target) => {
    for (let at = 0; at < target.length; ) {
      if (from === part.length) {
        [part, ...rest] = rest;
        from = 0;
      }
      const piece = part.subarray(from, from + target.length - at);
      target.set(piece, at);
      at += piece.length;
      from += piece.length;
    }
  };
}

// Where there are zeros none are written: the system gives a page of memory out when it is first written to. Several
// words at a time are looked at, for this runs but once, before the browser has made it fast.
function clear({ buffer }, start, end) {
  const words = new Int32Array(buffer, start, (end - start) / WORD);
  for (let at = 0; at < words.length; at += 8) {
    const half = words[at] | words[at + 1] | words[at + 2] | words[at + 3];
    if ((half | words[at + 4] | words[at + 5] | words[at + 6] | words[at + 7]) === 0) continue;
    const next = Math.min(words.length, (Math.trunc(at / PAGE_WORDS) + 1) * PAGE_WORDS);
    words.fill(0, at, next);
    at = next - 8;
  }
}

function link(module, library, code) {
  const { name, handle, memoryBase, tableBase, tableSize } = library;
  const { LDSO, GOT, GOTHandler, wasmTable } = module;
  wasmTable.grow(tableBase + tableSize - wasmTable.length);
  const bases = { __memory_base: memoryBase, __table_base: tableBase };
  const linked = { exports: {} };
  const env = new Proxy(bases, { get: (_, symbol) => bases[symbol] ?? resolve(module, symbol, linked) });
  const got = new Proxy(new Set(), GOTHandler);
  const imports = { env, wasi_snapshot_preview1: env, "GOT.mem": got, "GOT.func": got };
  const instance = new WebAssembly.Instance(code, imports);
  linked.exports = module.relocateExports(instance.exports, memoryBase);
  module.updateTableMap(tableBase, tableSize);
  for (const symbol of Object.keys(linked.exports)) {
    GOT[symbol] ??= new WebAssembly.Global({ value: "i32", mutable: true });
  }
  const entry = { refcount: Infinity, name, exports: linked.exports, global: false };
  LDSO.loadedLibsByName[name] = entry;
  LDSO.loadedLibsByHandle[handle] = entry;
}

// A symbol of the main module, or one that the library itself provides once it is there.
function resolve(module, symbol, linked) {
  const { sym } = module.resolveGlobalSymbol(symbol);
  return sym ?? ((...given) => linked.exports[symbol](...given));
}

/**
 * Give a restored Python its files and everything that was fixed when the snapshot was made.
 *
 * @param {object} pyodide
 * @param {object} record the snapshot's `.json`
 * @param {Uint8Array[]} files what the record's `files` are in
 * @param {string} language as `navigator.language`
 */
export function wake(pyodide, record, files, language) {
  record.files.forEach(({ index }, number) => writeFiles(pyodide.FS, index, files[number]));
  // So that Pyodide does not fetch them when a script imports them.
  for (const name of record.packages) pyodide.loadedPackages[name] = "default channel";
  const waking = pyodide.pyimport("pedelec._browser.waking");
  const failure = waking.wake_up(language);
  waking.destroy();
  if (failure !== undefined && failure !== null) throw new SnapshotMismatch(failure);
}

// Node by node: Pyodide's `FS.writeFile` looks a path up several times, which hundreds of files feel.
function writeFiles(FS, index, bytes) {
  const folders = new Map();
  let at = 0;
  for (const [path, size] of index) {
    const slash = path.lastIndexOf("/");
    const folder = path.slice(0, slash);
    if (!folders.has(folder)) {
      FS.mkdirTree(folder);
      folders.set(folder, FS.lookupPath(folder).node);
    }
    const parent = folders.get(folder);
    const file = parent.node_ops.mknod(parent, path.slice(slash + 1), READABLE_FILE, 0);
    file.contents = bytes.subarray(at, at + size);
    file.usedBytes = size;
    at += size;
  }
}
