import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { keptAllowedChecks } from "./allowed-checks.ts";

test("a check that was allowed stays allowed for its goal after a restart, with exactly these arguments", async (t) => {
  const state = tempFolder(t);
  await keptAllowedChecks(state).add("gol_1", ["npm", "test"], "Ada");
  const again = keptAllowedChecks(state);
  assert.equal(again.has("gol_1", ["npm", "test"]), true);
  assert.equal(again.has("gol_1", ["npm", "test", "--", "x"]), false);
  assert.equal(again.has("gol_1", ["npm test"]), false);
  assert.equal(again.has("gol_2", ["npm", "test"]), false);
  assert.match(readFileSync(join(state, "allowed-checks.json"), "utf8"), /"by":"Ada"/);
});

test("what was allowed before it was kept who allowed it still counts", async (t) => {
  const state = tempFolder(t);
  const file = join(state, "allowed-checks.json");
  writeFileSync(file, JSON.stringify([{ goal: "gol_1", checks: [["npm", "test"]] }]), { mode: 0o600 });
  const allowed = keptAllowedChecks(state);
  assert.equal(allowed.has("gol_1", ["npm", "test"]), true);
  await allowed.add("gol_1", ["npm", "run", "lint"], "Ada");
  assert.deepEqual([allowed.has("gol_1", ["npm", "test"]), allowed.has("gol_1", ["npm", "run", "lint"])], [true, true]);
});

test("old goals are forgotten, and a file that cannot be read allows nothing and is written anew", async (t) => {
  const state = tempFolder(t);
  const allowed = keptAllowedChecks(state);
  for (let goal = 0; goal < 205; goal += 1) await allowed.add(`gol_${goal}`, ["true"], "Ada");
  assert.deepEqual([allowed.has("gol_0", ["true"]), allowed.has("gol_204", ["true"])], [false, true]);
  writeFileSync(join(state, "allowed-checks.json"), "{", { mode: 0o600 });
  assert.equal(allowed.has("gol_204", ["true"]), false);
  await allowed.add("gol_1", ["true"], "Ada");
  assert.equal(allowed.has("gol_1", ["true"]), true);
});

test("checks that are too long to be kept push out only what is older, and never what comes after them", async (t) => {
  const allowed = keptAllowedChecks(tempFolder(t));
  const long = ["echo", "x".repeat(300_000)];
  await allowed.add("gol_1", ["true"], "Ada");
  await allowed.add("gol_2", long, "Ada");
  await allowed.add("gol_3", long, "Ada");
  await allowed.add("gol_4", ["true"], "Ada");
  const kept = [allowed.has("gol_1", ["true"]), allowed.has("gol_2", long), allowed.has("gol_3", long)];
  assert.deepEqual([...kept, allowed.has("gol_4", ["true"])], [false, false, true, true]);
});
