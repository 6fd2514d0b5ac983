import assert from "node:assert/strict";
import { cpSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { machineOf } from "./machine-identity.ts";

test("a state folder has one machine id, and another one after it was copied to another machine", (t) => {
  const folder = realpathSync(tempFolder(t));
  const first = machineOf(folder, "alder");
  assert.deepEqual(machineOf(folder, "alder"), first);
  assert.deepEqual(machineOf(folder, "renamed"), { id: first.id, name: "renamed" });
  const copy = join(tempFolder(t), "copy");
  cpSync(folder, copy, { recursive: true });
  const elsewhere = machineOf(copy, "birch", "another host");
  assert.notEqual(elsewhere.id, first.id);
  assert.deepEqual(machineOf(copy, "birch", "another host"), elsewhere);
});
