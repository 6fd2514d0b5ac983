import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { KeptNamesBuilder } from "./kept-names.ts";
import { askName, idInName, keptNamesKey, type Salt, saltIn, taskName, threadName } from "./names.ts";

const [own, other] = ["0a1b2c3d4e", "aaaaaaaaaa"];

function saltWith(pairs: readonly (readonly [there: number, here: number])[]): Salt {
  const kept = new KeptNamesBuilder();
  for (const [there, here] of pairs) kept.add("tsk", there, here);
  return saltIn([
    { key: "salt", value: own },
    { key: keptNamesKey(other), value: kept.text() },
  ]);
}

test("a row from another store keeps its name, and has no other", () => {
  const salt = saltWith([
    [1, 101],
    [2, 102],
    [3, 201],
    [7, 103],
  ]);
  assert.equal(idInName(salt, `tsk_${other}_2`), 102);
  assert.equal(idInName(salt, `tsk_${other}_7`), 103);
  assert.equal(taskName(salt, 201), `tsk_${other}_3`);
  // What the other store never had, or had removed.
  for (const there of [4, 6, 8]) assert.equal(idInName(salt, `tsk_${other}_${there}`), undefined);
  assert.equal(idInName(salt, `tsk_${own}_${(102).toString(36)}`), undefined);
  // A row that was made here, in a tree that came from there.
  assert.equal(taskName(salt, 104), `tsk_${own}_${(104).toString(36)}`);
  assert.equal(idInName(salt, taskName(salt, 104)), 104);
  // Each kind of row has ids of its own.
  assert.equal(idInName(salt, `ask_${other}_2`), undefined);
  assert.equal(askName(salt, 102), `ask_${own}_${(102).toString(36)}`);
  assert.equal(threadName(salt, 102), `thr_${own}_${(102).toString(36)}`);
});

test("every row has one name that leads back to it, whatever came from where", () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { maxLength: 60 });
  fc.assert(
    fc.property(ids, ids, (there, here) => {
      const pairs = there.slice(0, here.length).map((id, at) => [id, here[at] ?? 0] as const);
      const salt = saltWith(pairs);
      for (const [old, now] of pairs) assert.equal(idInName(salt, `tsk_${other}_${old.toString(36)}`), now);
      const names = new Set<string>();
      for (let id = 1; id <= 500; id += 1) {
        names.add(taskName(salt, id));
        assert.equal(idInName(salt, taskName(salt, id)), id);
      }
      assert.equal(names.size, 500);
    }),
    { numRuns: 100 },
  );
});
