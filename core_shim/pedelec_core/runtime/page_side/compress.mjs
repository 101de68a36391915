// `node compress.mjs LEVEL FILE…`: writes FILE.zst beside each FILE.

import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

const [level, ...files] = process.argv.slice(2);
const params = { [zlib.constants.ZSTD_c_compressionLevel]: Number(level) };

for (const [index, file] of files.entries()) {
  fs.writeSync(1, `compressing ${path.basename(file)}\t${index}\t${files.length}\n`);
  fs.writeFileSync(`${file}.zst`, zlib.zstdCompressSync(fs.readFileSync(file), { params }));
}
