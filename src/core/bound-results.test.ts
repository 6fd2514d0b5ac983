import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { boundResults } from "./bound-results.ts";

const result = (content: unknown, index = 0) => ({ content, task_id: `tsk_${index}`, status: "completed" as const });

test("results that fit are the same; of others the longest are cut and name the task that has the rest", () => {
  const small = [result("a"), result({ b: 1 }), result(null)];
  assert.deepEqual(boundResults(small), small);
  const [short, text, data] = boundResults(
    [result("short", 1), result("x".repeat(100), 2), result(["y".repeat(100)], 3)],
    65,
  );
  assert.deepEqual(short, result("short", 1));
  assert.equal(
    text?.content,
    `${"x".repeat(30)}\n[… cut after 30 of 100 characters; the result of the task tsk_2 has all of them …]`,
  );
  assert.equal(text?.whole_length, 100);
  assert.match(String(data?.content), /^\["y{28}\n\[… cut after 30 of 104 characters; .*tsk_3/);
});

test("however many there are and however long, the contents stay within the limit, apart from the notes", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5_000), { maxLength: 60 }), fc.integer({ min: 100, max: 10_000 }), (lengths, most) => {
      const bounded = boundResults(
        lengths.map((length, index) => result("z".repeat(length), index)),
        most,
      );
      const kept = bounded.map(({ content }) => String(content).split("\n")[0]?.length ?? 0);
      assert.ok(kept.reduce((sum, length) => sum + length, 0) <= most);
    }),
  );
});
