// A result of about one megabyte, and how long JavaScript takes to encode it.

import { encode } from "/sdk/encode.mjs";

const BYTES = 1_000_000;
const LIMITS = { maxBytes: 2 * BYTES, maxDepth: 100 };
const REPEATS = 5; // the clock of a page is coarse

function* rows() {
  for (let id = 0, bytes = 0; bytes < BYTES; id++) {
    const row = { id, name: `item ${id}`, x: id * 1.5, visible: id % 2 === 0, tags: ["a", "b"] };
    bytes += JSON.stringify(row).length + 1;
    yield row;
  }
}

const value = [...rows()];
const contenders = {
  stringify: () => JSON.stringify(value),
  encode: () => encode(value, LIMITS).text,
};
if (contenders.encode() !== contenders.stringify()) throw new Error("the two texts differ");

bench.valueText = JSON.stringify(value);
bench.javascript = (name) => {
  const started = performance.now();
  for (let repeat = 0; repeat < REPEATS; repeat++) contenders[name]();
  return (performance.now() - started) / REPEATS;
};
