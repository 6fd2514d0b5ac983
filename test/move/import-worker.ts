// A process that begins to import a folder, says so, and waits in the middle to be killed by a test: FOLDER URL SCHEMA.

import { writeSync } from "node:fs";

import { importFolder } from "../../src/store/move/import-folder.ts";
import { takeLock } from "../../src/store/sqlite/lock.ts";

const [folder = "", url = "", schema = ""] = process.argv.slice(2);
takeLock(folder);
await importFolder({
  folder,
  address: { url, schema },
  onProgress({ rows }) {
    writeSync(1, `${rows}\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
  },
});
