import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { AskId, TaskId } from "../protocol/ids.ts";
import { askName, idInName, taskName } from "./names.ts";

test("a name is a valid id and leads back to its row", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (id) => {
      assert.equal(idInName("0a1b2c3d4e", TaskId.parse(taskName("0a1b2c3d4e", id))), id);
      assert.equal(idInName("0a1b2c3d4e", AskId.parse(askName("0a1b2c3d4e", id))), id);
    }),
    { numRuns: 200 },
  );
});

test("a name of another store, or no name at all, leads nowhere", () => {
  for (const name of [
    "tsk_ffffffffff_1",
    "tsk_0a1b2c3d4e_",
    "tsk_0a1b2c3d4e_1.2",
    "0a1b2c3d4e_1",
    "gol_0a1b2c3d4e_1",
    "tsk_0a1b2c3d4e_01",
    "ask_0a1b2c3d4e_00",
    "",
  ]) {
    assert.equal(idInName("0a1b2c3d4e", name), undefined, name);
  }
  assert.equal(idInName("0a1b2c3d4e", "tsk_0a1b2c3d4e_zzzzzzzzzzzzzzz"), undefined);
});
