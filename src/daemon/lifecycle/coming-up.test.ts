import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { isComing, showComing, startFolder } from "./coming-up.ts";

test("a daemon that is coming up is known by its process, and the signs of those that were killed are swept", async (t) => {
  const folder = tempFolder(t);
  assert.equal(await isComing(folder, process.pid), false);
  const came = await showComing(folder);
  assert.equal(await isComing(folder, process.pid), true);
  came();
  assert.equal(await isComing(folder, process.pid), false);

  // The pid lives, but it was given to another process since.
  writeFileSync(join(startFolder(folder), `${process.ppid}.coming`), "another start");
  assert.equal(await isComing(folder, process.ppid), false);
  const again = await showComing(folder);
  assert.deepEqual(readdirSync(startFolder(folder)), [`${process.pid}.coming`]);
  again();
});
