import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openNode } from "../../test/support/cluster-kit.ts";
import { gate, type Loops, task } from "../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { ask, connectTo } from "../store/postgres/database-connection.ts";
import { describeNodes } from "./describe-nodes.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

test(
  "every node lists the same nodes: those that live with what they run, and one that was lost, but none that left",
  { skip },
  async (t) => {
    const address = newDatabase();
    const hold = gate();
    t.after(() => hold.open());
    const loops: Loops = { waits: async () => hold.opened };
    const [a, b, c] = [
      await openNode(t, address, loops, { name: "a", labels: ["gpu"], leaseMs: 60_000 }),
      await openNode(t, address, loops, { name: "b", leaseMs: 60_000 }),
      await openNode(t, address, loops, { name: "c", leaseMs: 60_000 }),
    ];
    await a.node.tasks.start(task("waits"));
    await a.node.tasks.start(task("waits"));
    const [first, second] = [await describeNodes(a.node.node), await describeNodes(b.node.node)];
    assert.deepEqual(
      first.nodes.map(({ name, state, here, trees, labels }) => [name, state, here, trees, labels]),
      [
        ["a", "alive", true, 2, ["gpu"]],
        ["b", "alive", false, 0, []],
        ["c", "alive", false, 0, []],
      ],
    );
    assert.ok(first.nodes.every(({ lease_left_ms: left }) => left !== null && left > 0 && left <= 60_000));
    assert.ok(first.nodes.every(({ changes_behind: behind }) => behind === 0));
    assert.deepEqual(
      second.nodes.map(({ name, here }) => [name, here]),
      [
        ["a", false],
        ["b", true],
        ["c", false],
      ],
    );

    await c.node.close();
    const client = await connectTo(address);
    // As of a node that is not heard of any more.
    await ask(client, "SELECT join_cluster('d', 'http://d', '{}', 'old', 60000)");
    await ask(
      client,
      `WITH gone AS (UPDATE nodes SET alive = false WHERE name = 'd' RETURNING incarnation)
       UPDATE node_leases SET until = now() - interval '1 second' WHERE incarnation IN (SELECT incarnation FROM gone)`,
    );
    // Its tree waits for a node that has what it needs.
    await ask(
      client,
      `INSERT INTO trees (root, owner, needs) SELECT 99 * 1048576 + 1, incarnation, '{other}' FROM nodes WHERE name = 'd'`,
    );
    const seen = await describeNodes(b.node.node);
    await client.end();
    assert.deepEqual(
      seen.nodes.map(({ name, state, url, lease_left_ms: left }) => [name, state, url, left === 0]),
      [
        ["a", "alive", null, false],
        ["b", "alive", null, false],
        ["d", "lost", "http://d", true],
      ],
    );
    assert.equal(seen.trees_without_node, 1);
  },
);

test("a node that has not taken in what others changed is shown to be behind", { skip }, async (t) => {
  const address = newDatabase();
  const a = await openNode(t, address, {}, { name: "a" });
  const client = await connectTo(address);
  // A node of another version, say, that never says anything.
  await ask(client, "SELECT join_cluster('mute', '', '{}', 'old', 60000)");
  a.node.node.store.records.putSetting("x", "1");
  await a.node.node.store.committed();
  const { nodes } = await describeNodes(a.node.node);
  await client.end();
  const mute = nodes.find(({ name }) => name === "mute") ?? assert.fail();
  assert.ok(mute.changes_behind > 0);
  assert.equal(mute.version, "old");
});
