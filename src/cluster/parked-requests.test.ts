import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openNode } from "../../test/support/cluster-kit.ts";
import { answer, anything, ask, type Loops, person, task } from "../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { until } from "../../test/support/wait-until.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";
import { askName, idInName } from "../store/names.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { parkedTrees } from "./parked-trees.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const slow = { leaseMs: 60_000 };
const gpu = { needs: ["gpu"] };

const loops: Loops = {
  asks: async (d) => {
    const waited = await d.wait("q", { ask, schema: anything });
    return "value" in waited ? waited.value : "expired";
  },
  inbox: async (d) => {
    const mail = await d.receive("mail", { block: true });
    return mail === null || mail === undefined ? "nothing" : messageText(mail);
  },
  tries: async (d) => {
    if (d.attempt === 1) await d.wait("never", { label: "never", schema: anything });
    return d.attempt;
  },
};

/** The open question of a tree, or the wait of another kind. */
async function waitOf({ node }: ClusterNode, name: string): Promise<string> {
  const root = idInName(node.store.salt, name) ?? 0;
  const sql = `SELECT w.id FROM waits w WHERE w.id >= $1::bigint - 1 AND w.id < $1::bigint - 1 + 1048576
    AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.wait = w.id) ORDER BY w.id DESC`;
  const found = await until(async () => (await node.rows(sql, [root]))[0], "the tree waits");
  return askName(node.store.salt, Number(found["id"]));
}

test(
  "a parked tree takes every request at any node, runs nothing, and goes on with what it was given",
  { skip },
  async (t) => {
    const address = newDatabase();
    const a = await openNode(t, address, loops, { name: "a", ...slow, labels: ["gpu"] });
    const b = await openNode(t, address, loops, { name: "b", ...slow });
    const c = await openNode(t, address, loops, { name: "c", ...slow });
    const start = async (agent: string): Promise<string> => {
      const { task: name } = await a.node.tasks.start(task(agent), gpu);
      return name;
    };
    const [asked, told, retried, stopped, refused, interrupted, canceled] = [
      await start("asks"),
      await start("inbox"),
      await start("tries"),
      await start("tries"),
      await start("tries"),
      await start("tries"),
      await start("asks"),
    ];
    for (const name of [asked, retried, stopped, refused, interrupted, canceled]) await waitOf(a.node, name);
    const question = await waitOf(a.node, asked);
    await a.node.close();
    await b.node.beat();
    assert.equal((await parkedTrees(b.node.node)).length, 7, "nobody has the label");

    // Somebody waits for a result all the time, and hears nothing that is not so.
    const results = [asked, told, retried, stopped, interrupted].map((name) => c.node.tasks.result(name));
    assert.deepEqual(await b.node.tasks.deliver(question, answer("red"), person), {
      outcome: "accepted",
      provisional: true,
    });
    assert.equal((await c.node.tasks.deliver(question, answer("blue"), person)).outcome, "late");
    await c.node.tasks.message(told, userMessage("kept"));
    await b.node.tasks.retry(retried, { once: { key: "again", content: "c" } });
    await c.node.tasks.retry(retried, { once: { key: "again", content: "c" } });
    await b.node.tasks.stopTask(stopped, "not now");
    await c.node.tasks.resumeTask(stopped, person);
    await b.node.tasks.stopTask(refused, "not now");
    const no = { kind: "approval", approved: false };
    assert.equal((await c.node.tasks.deliver(await waitOf(b.node, refused), no, person)).outcome, "accepted");
    assert.equal((await b.node.tasks.result(refused)).status, "canceled", "what follows from a no is recorded with it");
    await b.node.tasks.interruptTask(interrupted, "change", person);
    assert.equal((await b.node.tasks.session(told))?.task, told);
    // Two nodes at once: one of them visits the tree, and both requests are carried out.
    const both = [b, c].map(({ node }) => node.tasks.message(told, userMessage("second")));
    await Promise.all(both);
    assert.deepEqual(await c.node.tasks.cancel(canceled, "enough"), [canceled]);
    assert.equal((await parkedTrees(b.node.node)).length, 5, "none of them went on");

    await openNode(t, address, loops, { name: "d", ...slow, labels: ["gpu"] });
    const contents = (await Promise.all(results)).map(({ content }) => content);
    assert.deepEqual(contents, [answer("red"), "kept", 2, 2, 2]);
  },
);
