import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { isStarting, startFolder, writeStartupMarker } from "./startup-marker.ts";

test("a starting daemon is known by its marker, and markers of killed processes are removed", async (t) => {
  const folder = tempFolder(t);
  assert.equal(await isStarting(folder, process.pid), false);
  const remove = await writeStartupMarker(folder);
  assert.equal(await isStarting(folder, process.pid), true);
  remove();
  assert.equal(await isStarting(folder, process.pid), false);

  // The pid is in use, but by another process.
  writeFileSync(join(startFolder(folder), `${process.ppid}.starting`), "another start");
  assert.equal(await isStarting(folder, process.ppid), false);
  const removeAgain = await writeStartupMarker(folder);
  assert.deepEqual(readdirSync(startFolder(folder)), [`${process.pid}.starting`]);
  removeAgain();
});
