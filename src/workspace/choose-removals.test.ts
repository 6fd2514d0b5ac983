import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { chooseRemovals, type RemovalCandidate } from "./choose-removals.ts";

const one = (id: string, more: Partial<RemovalCandidate> = {}): RemovalCandidate => ({
  id,
  state: "clean",
  bytes: 10,
  used_at: 0,
  active: false,
  ...more,
});

test("the oldest without work go first; active ones and uncommitted work stay", () => {
  const candidates = [
    one("new", { used_at: 5 }),
    one("old", { used_at: 1 }),
    one("unmerged", { state: "unmerged" }),
    one("busy", { active: true }),
    one("dirty", { state: "uncommitted" }),
  ];
  const ids = (limits: Parameters<typeof chooseRemovals>[1]) =>
    chooseRemovals(candidates, limits, 10).remove.map(({ id }) => id);
  assert.deepEqual(ids({ maxBytes: 40 }), ["old"]);
  assert.deepEqual(ids({ maxCount: 2 }), ["old", "new", "unmerged"]);
  assert.deepEqual(ids({ maxAgeMs: 8 }), ["old", "unmerged"]);
  assert.deepEqual(ids({ maxBytes: 0, mayRemoveUncommitted: true }), ["old", "new", "unmerged", "dirty"]);
  assert.deepEqual(chooseRemovals(candidates, { maxBytes: 0 }, 10).over, { bytes: 20, count: 0 });
});

const candidate = fc.record({
  id: fc.uuid(),
  state: fc.constantFrom("clean", "uncommitted", "unmerged", "merged", "missing", "removed"),
  bytes: fc.nat(100),
  used_at: fc.nat(100),
  active: fc.boolean(),
} as const);

test("the limits hold afterwards, or nothing that may go is left", () => {
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 20 }), fc.nat(500), fc.nat(10), (candidates, maxBytes, maxCount) => {
      const { remove, over } = chooseRemovals(candidates, { maxBytes, maxCount }, 100);
      const gone = new Set(remove.map(({ id }) => id));
      const rest = candidates.filter(({ id, state }) => state !== "removed" && !gone.has(id));
      for (const { active, state } of candidates.filter(({ id }) => gone.has(id))) {
        assert.ok(!active && state !== "uncommitted" && state !== "removed");
      }
      const bytes = rest.reduce((sum, each) => sum + each.bytes, 0);
      assert.deepEqual(over, { bytes: Math.max(0, bytes - maxBytes), count: Math.max(0, rest.length - maxCount) });
      if (over.count > 0) assert.ok(rest.every(({ active, state }) => active || state === "uncommitted"));
      if (over.bytes > 0)
        assert.ok(rest.every(({ active, state, bytes: size }) => active || state === "uncommitted" || size === 0));
    }),
  );
});
