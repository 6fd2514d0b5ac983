// The crash test with a few kills of a node over PostgreSQL, and a check that its checker finds what was done again there.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { started, text, world } from "../support/engine-kit.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { databaseOf, sharedServer } from "../support/stores.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { checkShared } from "./check-after-crash.ts";
import { crash } from "./crash.ts";
import { openLedger } from "./crash-ledger.ts";

process.env["TUTTI_STORE"] = "postgres";
const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

test(
  "invariant 3 on PostgreSQL: killed at random, a node loses nothing acknowledged and doubles nothing",
  { skip },
  async () => {
    const { tally, problems, figures } = await crash({ kills: 5, seed: 1, onPostgres: true });
    assert.deepEqual(problems, []);
    assert.deepEqual({ ...tally, tasks: 0 }, { kills: 5, tasks: 0, lost: 0, repeated: 0, doubled: 0, unfinished: 0 });
    assert.ok(
      tally.tasks > 30 && (figures["unknown"] ?? 0) > 0,
      `the kills hit work under way: ${JSON.stringify(figures)}`,
    );
  },
);

test(
  "the check sees on PostgreSQL what was lost, ran again after it was recorded, or was done twice",
  { skip },
  async (t) => {
    const folder = tempFolder(t);
    const w = world(folder, { one: (d) => d.step("pay", { repeatable: false, schema: text }, () => "paid") });
    t.after(() => w.stop());
    const name = await started(w, "one");
    await w.engine.result(name);
    const key = `${name}/1.1/pay`;
    const [acks, effects] = [openLedger(folder, "acks"), openLedger(folder, "effects")];
    t.after(() => acks.close());
    t.after(() => effects.close());
    const found = async () => (await checkShared(folder, 0, databaseOf(folder))).tally;
    acks.write(["epoch", "1", w.clock.now()]);
    effects.write(["1", key, "once"]);
    const clean = { kills: 0, tasks: 1, lost: 0, repeated: 0, doubled: 0, unfinished: 0 };
    assert.deepEqual(await found(), clean);
    acks.write(["epoch", "2", w.clock.now() + 1]);
    effects.write(["2", key, "once"]);
    assert.deepEqual(await found(), { ...clean, repeated: 1, doubled: 1 });
    acks.write(["start", "2", "k"]);
    assert.deepEqual(await found(), { ...clean, repeated: 1, doubled: 1, lost: 1 });
  },
);
