// One of two nodes is killed with a hundred trees under way: all of them are done by the other, and no step runs twice.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";
import { effectsIn, rowsOf, startNode } from "./node-process-kit.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const [trees, steps, leaseMs] = [200, 10, 5_000];

/** The longest time that this machine gave this process nothing to run on. */
function watchStalls(): { longest(): number; stop(): void } {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last - 20);
    last = performance.now();
  }, 20);
  return { longest: () => longest, stop: () => clearInterval(timer) };
}

test(
  "one of two nodes is killed with 200 trees of ten steps that may not be repeated: each step runs at most once, and all are done",
  { skip },
  async (t) => {
    const address = newDatabase();
    const folder = tempFolder(t);
    // While the database is young nobody is buried.
    await pause(2 * leaseMs);
    const [a, b] = ["a", "b"].map((name) => startNode(t, address, { name, folder, leaseMs, how: String(trees / 2) }));
    assert.ok(a !== undefined && b !== undefined);
    await Promise.all([a.hears("ready"), b.hears("ready")]);
    for (const { child } of [a, b]) child.kill("SIGUSR2");
    await Promise.all([a.hears("started"), b.hears("started")]);
    const ofNode = (name: string): number => effectsIn(folder).filter(([node]) => node === name).length;
    await until(() => ofNode("a") > (trees * steps) / 8, "a part of the steps is done");
    const stalls = watchStalls();
    t.after(() => stalls.stop());
    const killedAt = Date.now();
    a.child.kill("SIGKILL");
    const open = "SELECT count(*) AS n FROM trees WHERE open";
    await until(async () => (await rowsOf(address, open))[0]?.["n"] === 0, "all trees are done");

    const effects = effectsIn(folder);
    assert.equal(new Set(effects.map(([, key]) => key)).size, effects.length, "each step ran at most once");
    const results = await rowsOf(address, "SELECT status, count(*) AS n FROM results GROUP BY status");
    assert.deepEqual(results, [{ status: "completed", n: trees }]);
    const [lines] = await rowsOf(
      address,
      "SELECT count(*) FILTER (WHERE kind = 0) AS ok, count(*) FILTER (WHERE kind = 2) AS unknown FROM log WHERE key ~ '^s[0-9]$'",
    );
    assert.equal(Number(lines?.["ok"]) + Number(lines?.["unknown"]), trees * steps);
    const unknown = await rowsOf(
      address,
      `SELECT t.epoch, count(l.id) AS n FROM trees t LEFT JOIN log l ON l.id / ${2 ** 20} = t.root / ${2 ** 20} AND l.kind = 2
       GROUP BY t.root, t.epoch`,
    );
    for (const row of unknown) assert.ok(Number(row["n"]) <= Number(row["epoch"]) - 1, JSON.stringify(row));
    const moved = unknown.filter(({ epoch }) => Number(epoch) > 1);
    assert.ok(moved.length > 0, "the kill hit trees under way");

    const ofA = new Set(effects.flatMap(([node, key]) => (node === "a" ? [key.slice(0, key.indexOf("/"))] : [])));
    const taken = effects.filter(([node, key]) => node === "b" && ofA.has(key.slice(0, key.indexOf("/"))));
    const first = Math.min(...taken.map(([, , at]) => at)) - killedAt;
    t.diagnostic(
      `the first step came ${first} ms after the kill, with a lease of ${leaseMs} ms; ${moved.length} trees moved`,
    );
    assert.ok(first <= leaseMs + 1_000 + 2 * stalls.longest(), `the first step came after ${first} ms`);
  },
);
