// The crash test with a few kills, and a check that its checker finds every kind of damage.

import assert from "node:assert/strict";
import { test } from "node:test";

import { seen, started, text, world } from "../support/engine-kit.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { check } from "./check-after-crash.ts";
import { crash } from "./crash.ts";
import { openLedger } from "./crash-ledger.ts";

test("invariant 3: killed at random, it loses nothing acknowledged, repeats no recorded step and doubles no effect", async () => {
  const { tally, problems, figures } = await crash({ kills: 10, seed: 1 });
  assert.deepEqual(problems, []);
  assert.deepEqual({ ...tally, tasks: 0 }, { kills: 10, tasks: 0, lost: 0, repeated: 0, doubled: 0, unfinished: 0 });
  assert.ok(
    tally.tasks > 50 && (figures["unknown"] ?? 0) > 0,
    `the kills hit work under way: ${JSON.stringify(figures)}`,
  );
});

test("the check sees what it is there for: each kind of loss, repeat and damage", async (t) => {
  const folder = tempFolder(t);
  const w = world(folder, { one: (d) => d.step("pay", { repeatable: false, schema: text }, () => "paid") });
  const name = await started(w, "one");
  await w.engine.result(name);
  await w.stop();
  const key = `${name}/1.1/pay`;
  const last = Number(seen(folder, "SELECT MAX(id) AS n FROM log")[0]?.["n"]);
  const [acks, effects] = [openLedger(folder, "acks"), openLedger(folder, "effects")];
  t.after(() => acks.close());
  t.after(() => effects.close());
  acks.write(["epoch", "1", 0]);
  acks.write(["result", "1", "completed", JSON.stringify("paid")]);
  effects.write(["1", key, "once"]);
  const clean = { kills: 0, tasks: 1, lost: 0, repeated: 0, doubled: 0, unfinished: 0 };
  assert.deepEqual(check(folder, 0).tally, clean);
  acks.write(["epoch", "2", last]);
  effects.write(["2", key, "once"]);
  assert.deepEqual(check(folder, 0).tally, { ...clean, repeated: 1, doubled: 1 });
  for (const ack of [
    ["start", "2", "k"],
    ["answer", "9"],
    ["mail", "1", "m0"],
    ["cancel", "7"],
    ["retry", "1"],
    ["result", "1", "completed", "1"],
  ])
    acks.write(ack);
  assert.equal(check(folder, 0).tally.lost, 6);
  assert.equal(check(folder, 0).problems.length, 7);
});
