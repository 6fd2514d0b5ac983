import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openNode } from "../../../test/support/cluster-kit.ts";
import { anything, ask, codeOf, type Loops, task } from "../../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../../test/support/stores.ts";
import { until } from "../../../test/support/wait-until.ts";
import { openPostgresView } from "./postgres-view.ts";
import { pruneDatabase } from "./prune-trees.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const loops: Loops = {
  short: async (d) => {
    await d.step("one", { repeatable: false, schema: anything }, () => 1);
    return "done";
  },
  waits: (d) => d.wait("q", { ask, schema: anything }),
};

test(
  "trees that are over are removed while nodes run, with all that belongs to them; what is open, a thread that goes on and requests that were carried out stay known",
  { skip },
  async (t) => {
    const address = newDatabase();
    const { node } = await openNode(t, address, loops, { name: "a", leaseMs: 60_000 });
    const { node: other } = await openNode(t, address, loops, { name: "b", leaseMs: 60_000 });
    const rows: typeof node.node.rows = (sql, values) => node.node.rows(sql, values);
    const finished = async (agent: string, options: Parameters<typeof node.tasks.start>[1] = {}): Promise<string> => {
      const { task: name } = await node.tasks.start(task(agent), options);
      await node.engine.result(name);
      return name;
    };
    for (let count = 0; count < 60; count += 1) await finished("short");
    const request = { once: { key: "request owner k", content: "c" } };
    await finished("short", request);
    const place = (thread: string) => ({ thread: { project: "", thread, kind: "agent" } as const });
    await finished("short", place("over"));
    await finished("short", place("goes on"));
    const { task: open } = await node.tasks.start(task("waits"), place("goes on"));
    await until(async () => (await rows("SELECT 1 FROM waits"))[0], "the question is asked");
    await rows(
      "INSERT INTO nodes (name, url, labels, version, alive, lease_ms, died_at) VALUES ('old', '', '{}', '', false, 1, now() - interval '9 days')",
    );
    await rows(
      "INSERT INTO commands (root, body, outcome, made_at) VALUES (1, '{}', '{}', now() - interval '2 hours')",
    );
    const view = openPostgresView(address, node.node.store.salt);
    t.after(() => view.close());
    const last = await view.lastEvent();

    assert.equal((await pruneDatabase(address, { endedBefore: 1 })).trees, 0, "nothing is so old");
    const report = await pruneDatabase(address, { endedBefore: Date.now() + 1_000 });
    assert.deepEqual([report.trees, report.tasks], [62, 62]);
    const tables = ["trees", "tasks", "runs", "results", "open"];
    const counts = await Promise.all(tables.map(async (name) => (await rows(`SELECT 1 FROM ${name}`)).length));
    assert.deepEqual(counts, [2, 2, 2, 1, 1], "the thread that goes on is there as a whole");
    assert.equal((await rows("SELECT 1 FROM log WHERE run NOT IN (SELECT id FROM runs)")).length, 0);
    assert.equal((await rows("SELECT 1 FROM step_starts")).length, 1);
    assert.deepEqual(await rows("SELECT 1 FROM nodes WHERE name = 'old'"), []);
    assert.deepEqual(await rows("SELECT 1 FROM commands"), []);
    assert.deepEqual(await rows("SELECT 1 FROM shared_changes"), [], "every node has seen them");
    assert.equal(await view.lastEvent(), last, "the sequence goes on where it was");
    const read = await view.eventsAfter({ after: 0, limit: 1_000 });
    assert.ok(
      read.rows.length > 0 && read.rows.every((event, at) => at === 0 || event.seq > (read.rows[at - 1]?.seq ?? 0)),
    );
    await until(
      () => other.node.store.threadNamed("", "over") === undefined && other.node.store.threadNamed("", "goes on"),
      "other nodes know of it",
    );
    assert.equal(await codeOf(other.tasks.start(task("short"), request)), "expired", "it is not carried out again");
    assert.deepEqual(await node.tasks.cancel(open, "enough"), [open]);
    assert.equal((await pruneDatabase(address, { maxBytes: 0 })).trees, 2);
    await finished("short", place("over"));
  },
);
