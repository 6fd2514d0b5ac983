import assert from "node:assert/strict";
import { test } from "node:test";

import { controlStatements } from "./control-statements.ts";
import { groundReview } from "./ground-review.ts";

const changed = ["src/total.js", "docs/total.md", "Makefile"];
const seeds = Array.from({ length: 64 }, (_, at) => (at * 0x9e3779b1).toString(16).padStart(16, "7").slice(-16));
const asked = [{ id: "task", text: "it is done", required: true }];
const point = (id: string, met: boolean) => ({ id, met, why: "it does", where: "src/total.js" });

test("of two statements about a change one names a file of it and one a file that is none, with ids of their own", () => {
  const firstHolds = new Set<boolean>();
  for (const seed of seeds) {
    const both = controlStatements(changed, seed);
    assert.deepEqual([both.length, both.filter(({ holds }) => holds).length], [2, 1]);
    for (const { text, holds } of both) {
      assert.equal(
        changed.some((path) => text.endsWith(JSON.stringify(path))),
        holds,
        text,
      );
    }
    assert.notEqual(both[0]?.id, both[1]?.id);
    firstHolds.add(both[0]?.holds === true);
  }
  assert.equal(firstHolds.size, 2, "the true one stands first or second");
  assert.deepEqual([controlStatements([], seeds[0] ?? ""), controlStatements(undefined, seeds[0] ?? "")], [[], []]);
});

test("a review that calls what was made up true says nothing of the work, and one that does not speak of it is judged as it is", () => {
  const control = controlStatements(changed, seeds[1] ?? "");
  const ground = { asked, changed, control };
  const told = (answers: (holds: boolean) => boolean) => control.map(({ id, holds }) => point(id, answers(holds)));
  const honest = groundReview([point("task", true), ...told((holds) => holds)], ground);
  assert.deepEqual([honest.grounded, honest.fooled, honest.points.map(({ id }) => id)], [true, false, ["task"]]);
  const nodding = groundReview([point("task", true), ...told(() => true)], ground);
  assert.deepEqual(nodding, { points: [], grounded: false, fooled: true });
  const silent = groundReview([point("task", true)], ground);
  assert.deepEqual([silent.grounded, silent.fooled], [true, false]);
});
