import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../test/support/temp-folder.ts";
import { filesIn, rewrittenFiles } from "./file-marks.ts";

test("a file that was written to, replaced or removed is told, also when its contents and times were put back", async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, "a"));
  const at = (name: string): string => join(folder, "a", name);
  const names = ["kept", "read", "executable", "written", "back", "replaced", "removed"];
  for (const name of names) writeFileSync(at(name), name);
  const before = await filesIn(folder);
  readFileSync(at("read"));
  chmodSync(at("executable"), 0o755);
  writeFileSync(at("written"), "other");
  writeFileSync(at("back"), "other");
  writeFileSync(at("back"), "back");
  utimesSync(at("back"), 1, 1);
  writeFileSync(at("new"), "replaced");
  renameSync(at("new"), at("replaced"));
  rmSync(at("removed"));
  const found = await rewrittenFiles(folder, before);
  assert.deepEqual(found.toSorted(), ["a/back", "a/removed", "a/replaced", "a/written"]);
});
