import assert from "node:assert/strict";
import { test } from "node:test";

import { calibrate, expectedOfAll, isHeld, readCanaries } from "./judge-canary.ts";

const ids = { asserts: "z0000000000000001", throws: "z0000000000000002", passes: "z0000000000000003" };
const counts = (passed: number, failed: number) => ({ runner: "unittest", passed, failed, skipped: 0 });
const named = `✖ ${ids.asserts} (1ms)\n✖ ${ids.throws} (1ms)\n✔ ${ids.passes} (1ms)\n`;
const report = (output: string, failed = true, tests: ReturnType<typeof counts> | null = null) =>
  readCanaries(output, { failed, tests });

test("a run holds when both failing tests and the passing one are reported by name and the exit status is a failure", () => {
  const held = report(named);
  assert.equal(isHeld(expectedOfAll([ids], held), held, null), true);
  for (const wrong of [
    report(named, false),
    report(named.replace(`✖ ${ids.throws}`, `✔ ${ids.throws}`)),
    report(named.replace(`✔ ${ids.passes}`, `✖ ${ids.passes}`)),
    report(named.replace(ids.asserts, "another")),
    report(""),
  ]) {
    assert.equal(isHeld(expectedOfAll([ids], wrong), wrong, null), false);
  }
});

test("where what passes has no name, the counts have to be exactly those before and the three more", () => {
  const failures = `FAIL: test_${ids.asserts} (a.A.x)\nERROR: test_${ids.throws} (a.A.y)\n`;
  const now = report(failures, true, counts(5, 2));
  assert.equal(isHeld(expectedOfAll([ids], now), now, counts(4, 0)), true);
  assert.equal(isHeld(expectedOfAll([ids], now), now, counts(5, 0)), false);
  assert.equal(isHeld(expectedOfAll([ids], now), now, null), false);
});

test("what a run without the work reports is what is expected with it", () => {
  assert.deepEqual(calibrate([ids], report(named)), {
    kind: "expected",
    expected: { failing: [ids.asserts, ids.throws], passing: [ids.passes], more: undefined },
  });
  assert.deepEqual(calibrate([ids], report("")), { kind: "silent" });
  assert.deepEqual(calibrate([ids], report(named, false)), { kind: "false" });
  assert.deepEqual(calibrate([ids], report(named.replaceAll("✖", "✔"))), { kind: "false" });
  // A runner that stops at the first failure.
  const first = calibrate([ids], report(`✔ ${ids.passes} (1ms)\n✖ ${ids.asserts} (1ms)\n`));
  assert.equal(first.kind, "expected");
});
