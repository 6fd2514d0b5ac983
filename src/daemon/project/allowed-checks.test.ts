import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { keptAllowedChecks } from "./allowed-checks.ts";

test("a check that was allowed stays allowed for its goal after a restart, with exactly these arguments", (t) => {
  const state = tempFolder(t);
  keptAllowedChecks(state).add("gol_1", ["npm", "test"]);
  const again = keptAllowedChecks(state);
  assert.equal(again.has("gol_1", ["npm", "test"]), true);
  assert.equal(again.has("gol_1", ["npm", "test", "--", "x"]), false);
  assert.equal(again.has("gol_1", ["npm test"]), false);
  assert.equal(again.has("gol_2", ["npm", "test"]), false);
});

test("old goals are forgotten, and a file that cannot be read allows nothing and is written anew", (t) => {
  const state = tempFolder(t);
  const allowed = keptAllowedChecks(state);
  for (let goal = 0; goal < 205; goal += 1) allowed.add(`gol_${goal}`, ["true"]);
  assert.deepEqual([allowed.has("gol_0", ["true"]), allowed.has("gol_204", ["true"])], [false, true]);
  writeFileSync(join(state, "allowed-checks.json"), "{", { mode: 0o600 });
  assert.equal(allowed.has("gol_204", ["true"]), false);
  allowed.add("gol_1", ["true"]);
  assert.equal(allowed.has("gol_1", ["true"]), true);
});
