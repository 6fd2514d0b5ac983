import assert from "node:assert/strict";
import { test } from "node:test";
import type { SpawnAnswer } from "./operator-request.ts";
import { spawnVerdict } from "./spawn-verdict.ts";

function ack(fields: Partial<SpawnAnswer> = {}): SpawnAnswer {
  return { value: null, ok: true, ...fields };
}

test("an ack without a value does not pass an attempt that posted nothing", () => {
  for (const value of [null, {}]) {
    assert.deepEqual(spawnVerdict(ack({ value }), { posted: false }), { outcome: "waiting" });
  }
});

test("an ack that failed fails the attempt even after a result was posted", () => {
  for (const posted of [true, false]) {
    const lost = spawnVerdict(ack({ error: "lost it" }), { posted });
    assert.deepEqual(lost, { outcome: "failed", reason: "lost it", error: true });
    const value = { found: ["a"] };
    const failed = spawnVerdict(ack({ ok: false, value }), { posted });
    assert.deepEqual(failed, { outcome: "failed", reason: JSON.stringify(value), error: false, value });
    assert.equal(spawnVerdict(ack({ ok: false }), { posted }).outcome, "failed");
    assert.equal(spawnVerdict(ack({ error: "" }), { posted }).outcome, "failed");
  }
});

test("a posted result stands, whatever value the ack carries", () => {
  for (const value of [null, {}, 7]) {
    assert.deepEqual(spawnVerdict(ack({ value }), { posted: true }), { outcome: "posted" });
  }
});

test("a value in the ack is the result when nothing was posted, falsy values included", () => {
  for (const value of [7, 0, false, "", [], { a: 1 }]) {
    assert.deepEqual(spawnVerdict(ack({ value }), { posted: false }), { outcome: "value", value });
  }
});
