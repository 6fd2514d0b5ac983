// A node that is frozen, loses its trees and wakes up: what it still wants to write is refused by the fence, and by nothing else.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ClusterNode } from "../../src/cluster/cluster-node.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import { openNode } from "../support/cluster-kit.ts";
import { codeOf, type Loops, text } from "../support/engine-kit.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import { type Cleanup, tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";
import {
  effectsIn,
  endLease,
  isStopped,
  type NodeProcess,
  rowsOf,
  startNode,
  takeOutFence,
} from "./node-process-kit.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const once = { repeatable: false, schema: text } as const;
const places = ["frozen before the body", "frozen before the commit"] as const;
/** So long that no renewal comes before the commit that is to be refused. */
const leaseMs = 60_000;

/** A node that has begun its second step and is frozen there. */
async function frozenNode(
  t: Cleanup,
  address: DatabaseAddress,
  how: string,
): Promise<NodeProcess & { folder: string }> {
  const folder = tempFolder(t);
  const made = startNode(t, address, { name: "stale", folder, leaseMs, how });
  await made.hears("frozen");
  await until(() => isStopped(made.child), "it is frozen");
  const claims = await rowsOf(address, "SELECT key FROM step_starts WHERE key = 'second'");
  assert.equal(claims.length, how === "frozen before the body" ? 1 : 0, "where it is frozen");
  return { ...made, folder };
}

for (const how of places) {
  test(`split brain, ${how}: its tree goes on elsewhere, and each step runs at most once`, { skip }, async (t) => {
    const address = newDatabase();
    const { child, hears, folder } = await frozenNode(t, address, how);
    const ran: string[] = [];
    const loops: Loops = {
      work: async (d) => {
        const act = (key: string): Promise<string> =>
          codeOf(
            d.step(key, once, (context) => {
              ran.push(context.key);
              return key;
            }),
          );
        return [await act("first"), await act("second"), await act("third")];
      },
    };
    const { node } = await openNode(t, address, loops, { name: "other", leaseMs });
    await endLease(address, "stale");
    await node.beat();
    const root = Number((await rowsOf(address, "SELECT root FROM trees"))[0]?.["root"]);
    const result = await until(() => node.node.store.result(root), "the tree is done");
    const claimed = how === "frozen before the body";
    // What was not committed yet is not known: of the first step its outcome, of the second that it began.
    const expected = claimed
      ? ["no error", "outcome_unknown", "no error"]
      : ["outcome_unknown", "no error", "no error"];
    assert.deepEqual(JSON.parse(result.body).content, expected);
    child.kill("SIGCONT");
    await hears("fenced by name");
    const all = [...effectsIn(folder).map(([, key]) => key), ...ran];
    assert.equal(new Set(all).size, all.length, `each step at most once: ${all.join(", ")}`);
    // The body that was claimed before the freeze runs when the node wakes up. What was not claimed never runs there.
    assert.equal(effectsIn(folder).length, claimed ? 2 : 1);
  });

  for (const fence of [true, false]) {
    const name = `split brain, ${how}: ${fence ? "only the fence refuses what it writes" : "without the fence it would write"}`;
    test(name, { skip }, async (t) => {
      const address = newDatabase();
      const { child, said, hears } = await frozenNode(t, address, how);
      // It owns the tree and does nothing with it, so no unique key can be in the way of the other node.
      const owner = await ClusterNode.open({
        address,
        identity: { name: "owner", url: "", labels: [], version: "test", leaseMs },
        cacheFolder: tempFolder(t),
        engine: ({ store }) =>
          new Engine({
            store,
            clock: systemClock,
            runners: { loop: () => Promise.reject(new Error("it has no slots")) },
            slots: 0,
          }),
      });
      t.after(() => owner.close());
      await endLease(address, "stale");
      await owner.beat();
      const [tree] = await rowsOf(address, "SELECT owner, epoch FROM trees");
      assert.deepEqual(tree, { owner: owner.node.incarnation, epoch: 2 });
      if (!fence) await takeOutFence(address);
      const lines = "SELECT count(*) AS n FROM log";
      const before = (await rowsOf(address, lines))[0]?.["n"];
      child.kill("SIGCONT");
      if (fence) {
        await hears("fenced by name");
        assert.deepEqual((await rowsOf(address, lines))[0]?.["n"], before, "nothing of it was written");
      } else {
        const result = await until(async () => (await rowsOf(address, "SELECT body FROM results"))[0], "it is written");
        assert.match(String(result["body"]), /did third/);
        assert.deepEqual(
          said.filter((line) => line.startsWith("fenced")),
          [],
        );
      }
    });
  }
}
