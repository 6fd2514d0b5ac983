// The chaos with a few faults, and a check that its checker finds every kind of loss, repeat and doubling.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { mails } from "../crash/crash-loops.ts";
import { openNode } from "../support/cluster-kit.ts";
import { task, text } from "../support/engine-kit.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { ownSalt } from "../../src/store/names.ts";
import { until } from "../support/wait-until.ts";
import { chaos } from "./chaos.ts";
import { checkChaos, type Remembered } from "./check-after-chaos.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

test(
  "invariants 1, 3, 9: three nodes that are killed, frozen and cut off, and a database that crashes, lose and double nothing",
  { skip },
  async () => {
    const counts = { kills: 4, freezes: 2, cuts: 2, crashes: 1 };
    const { tally, problems, figures } = await chaos({ seed: 1, counts });
    assert.deepEqual(problems, []);
    const clean = { ...counts, trees: 0, lost: 0, repeated: 0, doubled: 0, unfinished: 0, missed_events: 0 };
    assert.deepEqual({ ...tally, trees: 0 }, clean);
    const met = ["effects", "trees_moved", "commands", "events"].filter((what) => (figures[what] ?? 0) === 0);
    assert.deepEqual(met, [], `the faults hit work under way: ${JSON.stringify(figures)}`);
  },
);

test(
  "the check sees what it is there for: each kind of loss, repeat, doubling and missed event",
  { skip },
  async (t) => {
    const address = newDatabase();
    const folder = tempFolder(t);
    const { node } = await openNode(
      t,
      address,
      {
        inbox: async (d) => {
          await d.step("pay", { repeatable: false, schema: text }, () => "paid");
          return mails;
        },
      },
      { name: "a", leaseMs: 60_000 },
    );
    const { task: name } = await node.tasks.start(task("inbox"), { once: { key: "k", content: "" } });
    await node.engine.result(name);
    const { store } = node.node;
    const rows: typeof node.node.rows = (sql, values) => node.node.rows(sql, values);
    await until(async () => (await rows("SELECT 1 FROM due_batches")).length === 0, "every event has its place");
    const seen = (
      await rows("SELECT b.base + l.place AS seq FROM log l JOIN batches b ON b.id = l.batch ORDER BY 1")
    ).map((row) => Number(row["seq"]));
    const root = Number((await rows("SELECT root FROM trees"))[0]?.["root"]);
    const effect = (at: number): string => JSON.stringify([1, `${name}/1.1/pay`, "once", at]);
    const remembered: Remembered = {
      acks: [["start", String(root), "k"]],
      lost: [],
      doubled: [],
      sends: new Map(),
      keys: new Set(["k"]),
      results: new Map([[root, String((await rows("SELECT body FROM results"))[0]?.["body"])]]),
    };
    const kindsOf = async (
      client: Partial<Remembered>,
      { events = seen, effects = [effect(0)] }: { events?: readonly number[]; effects?: readonly string[] } = {},
    ): Promise<Record<string, number>> => {
      writeFileSync(join(folder, "effects.jsonl"), `${effects.join("\n")}\n`);
      const reader = { seen: events, disorder: 0 };
      const { figures: _, ...found } = await checkChaos(address, ownSalt(store.salt), folder, {
        client: { ...remembered, ...client },
        reader,
      });
      return Object.fromEntries(
        Object.entries(found).flatMap(([kind, { length }]) => (length > 0 ? [[kind, length]] : [])),
      );
    };
    assert.deepEqual(await kindsOf({}), {});
    assert.deepEqual(await kindsOf({ acks: [["start", "7", "other"]] }), { lost: 1 });
    assert.deepEqual(await kindsOf({ acks: [["mail", String(root), "m0"]] }), { lost: 1 });
    assert.deepEqual(await kindsOf({ results: new Map([[root, "another"]]) }), { lost: 1 });
    assert.deepEqual(await kindsOf({ keys: new Set() }), { doubled: 1 });
    assert.deepEqual(await kindsOf({}, { effects: [effect(0), effect(0)] }), { doubled: 1 });
    assert.deepEqual(await kindsOf({}, { effects: [effect(Date.now() + 1_000)] }), { repeated: 1 });
    assert.deepEqual(await kindsOf({}, { events: seen.slice(1) }), { missed_events: 1 });
    assert.deepEqual(await kindsOf({}, { events: [...seen, ...seen.slice(-1)] }), { missed_events: 1 });
    // What a second owner could have written if nothing refused it.
    await rows("INSERT INTO mail VALUES ($1, $2, $3)", [
      root,
      root,
      JSON.stringify({ role: "user", parts: [{ part_type: "text", data: "m0" }] }),
    ]);
    assert.deepEqual(await kindsOf({}), { doubled: 1 });
    await rows("UPDATE trees SET open = true");
    assert.deepEqual(await kindsOf({ sends: new Map([[`${root} m0`, 1]]) }), { unfinished: 1 });
  },
);
