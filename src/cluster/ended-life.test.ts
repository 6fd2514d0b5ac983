import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openNode } from "../../test/support/cluster-kit.ts";
import { answer, anything, ask, type Loops, person, task } from "../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { until, within } from "../../test/support/wait-until.ts";
import { TuttiError } from "../protocol/error.ts";
import { userMessage } from "../protocol/task/message.ts";
import { askName } from "../store/names.ts";
import type { ClusterNode } from "./cluster-node.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const loops: Loops = { asks: (d) => d.wait("q", { ask, schema: anything }) };
const frozen = 4711;

/** Another node that lives for the database, owns every tree, holds some claims, and never says anything. */
async function withFrozenOwner({ node }: ClusterNode): Promise<void> {
  const sql = `INSERT INTO nodes (incarnation, name, url, labels, version, lease_ms)
    VALUES (${frozen}, 'frozen', '', '{}', 'test', 60000)`;
  await node.rows(sql);
  await node.rows(`INSERT INTO node_leases VALUES (${frozen}, now() + interval '1 hour')`);
  await node.rows(`UPDATE trees SET owner = ${frozen}`);
  await node.rows(`INSERT INTO keys (key, claimed_by) VALUES ('k', ${frozen}), ('thread ["","talk"]', ${frozen})`);
}

async function retryOf(waiting: Promise<unknown>, what: string): Promise<string> {
  try {
    await within(() => waiting, what);
  } catch (thrown) {
    assert.ok(thrown instanceof TuttiError, String(thrown));
    assert.equal(thrown.code, "stopped", `${what}: ${thrown.message}`);
    return thrown.retry;
  }
  return assert.fail(`${what} was answered`);
}

test(
  "whoever waits at a node for another one is told at once when the node is stopped, and whether to look before asking again",
  { skip },
  async (t) => {
    const { node } = await openNode(t, newDatabase(), loops, { name: "a", leaseMs: 60_000 });
    const { task: name } = await node.tasks.start(task("asks"));
    const [wait] = await until(async () => {
      const rows = await node.node.rows("SELECT id FROM waits");
      return rows.length === 0 ? undefined : rows.map((row) => askName(node.node.store.salt, Number(row["id"])));
    }, "the question is asked");
    await withFrozenOwner(node);
    const { tasks } = node;
    const thread = { project: "", thread: "talk", kind: "agent" } as const;
    const waiting = {
      deliver: tasks.deliver(wait ?? "", answer("red"), person),
      message: tasks.message(name, userMessage("hello")),
      cancel: tasks.cancel(name, "enough"),
      pause: tasks.pause(),
      result: tasks.result(name),
      settled: tasks.settled(name),
      start: tasks.start(task("asks"), { key: "k" }),
      speak: tasks.start(task("asks"), { thread }),
    };
    const retries = Promise.all(
      Object.entries(waiting).map(async ([what, each]) => [what, await retryOf(each, what)] as const),
    );
    await until(
      async () => (await node.node.rows("SELECT 1 FROM commands")).length === 3,
      "the other node is asked to do three things",
    );
    await node.close();
    assert.deepEqual(Object.fromEntries(await retries), {
      deliver: "unknown",
      message: "unknown",
      cancel: "unknown",
      pause: "unknown",
      result: "safe",
      settled: "safe",
      start: "safe",
      speak: "safe",
    });
    for (const [what, later] of Object.entries({
      deliver: tasks.deliver(wait ?? "", answer("red"), person),
      start: tasks.start(task("asks"), { key: "k" }),
      result: tasks.result(name),
    }))
      assert.equal(await retryOf(later, `${what}, afterwards`), "safe");
  },
);
