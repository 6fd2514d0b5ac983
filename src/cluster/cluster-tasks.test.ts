import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openNode } from "../../test/support/cluster-kit.ts";
import { answer, anything, ask, codeOf, type Loops, person, task } from "../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { until } from "../../test/support/wait-until.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";
import { askName, taskName } from "../store/names.ts";
import type { ClusterNode } from "./cluster-node.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const loops: Loops = {
  asks: (d) => d.wait("q", { ask, schema: anything }),
  inbox: async (d) => {
    const mail = await d.receive("mail", { block: true });
    return mail === null || mail === undefined ? "nothing" : messageText(mail);
  },
  tries: async (d) => {
    if (d.attempt === 1) await d.wait("never", { label: "never", schema: anything });
    return d.attempt;
  },
};
const slow = { leaseMs: 60_000 };

/** The question of the tree, once it is asked. */
async function question({ node }: ClusterNode): Promise<string> {
  const found = await until(
    async () => (await node.rows("SELECT id FROM waits ORDER BY id"))[0],
    "the question is asked",
  );
  return askName(node.store.salt, Number(found["id"]));
}

test(
  "any node takes any request: the owner carries it out once, and what is over is told apart",
  { skip },
  async (t) => {
    const address = newDatabase();
    const { node: a } = await openNode(t, address, loops, { name: "a", ...slow });
    const { node: b } = await openNode(t, address, loops, { name: "b", ...slow });
    const start = async (agent: string): Promise<string> => (await a.tasks.start(task(agent))).task;

    const asked = await start("asks");
    const wait = await question(a);
    assert.deepEqual(await b.tasks.deliver(wait, answer("red"), person), { outcome: "accepted" });
    assert.deepEqual((await a.engine.result(asked)).content, { value: answer("red"), by: person });
    const late = await b.tasks.deliver(wait, answer("blue"), person);
    assert.deepEqual(late.outcome === "late" ? late.settled : late, {
      kind: "answered",
      value: answer("red"),
      by: person,
    });
    assert.equal(await codeOf(b.tasks.message(asked, userMessage("too late"))), "conflict");

    const inbox = await start("inbox");
    await b.tasks.message(inbox, userMessage("hello from the other side"));
    assert.equal((await a.engine.result(inbox)).content, "hello from the other side");

    const doomed = await start("asks");
    assert.deepEqual(await b.tasks.cancel(doomed, "enough"), [doomed]);
    assert.equal((await a.engine.result(doomed)).status, "canceled");

    const tried = await start("tries");
    await until(async () => (await a.node.rows("SELECT 1 FROM waits WHERE key = 'never'"))[0], "the attempt waits");
    await b.tasks.retry(tried);
    assert.equal((await a.engine.result(tried)).content, 2);

    const unknown = askName(a.node.store.salt, 99 * 2 ** 20 + 1);
    assert.equal((await b.tasks.deliver(unknown, answer("x"), person)).outcome, "unknown");
  },
);

test(
  "a request for a tree whose node has died waits for the takeover and is carried out by the new owner",
  { skip },
  async (t) => {
    const address = newDatabase();
    const { node: a } = await openNode(t, address, loops, { name: "a", ...slow });
    const { node: b } = await openNode(t, address, loops, { name: "b", ...slow });
    const { task: name } = await a.tasks.start(task("asks"));
    const wait = await question(a);
    // The node is dead and its lease has ended, and nobody has taken over yet: nothing of it answers.
    await b.node.rows("UPDATE nodes SET alive = false WHERE name = 'a'");
    await b.node.rows("DELETE FROM node_leases WHERE incarnation = $1", [a.node.incarnation]);
    const delivering = b.tasks.deliver(wait, answer("red"), person);
    await until(async () => (await b.node.rows("SELECT 1 FROM commands"))[0], "the request is there");
    await b.beat();
    assert.equal((await delivering).outcome, "accepted");
    assert.deepEqual((await b.engine.result(name)).content, { value: answer("red"), by: person });
  },
);

test(
  "an answer that was committed by an owner that died before it could say so is not given a second time",
  { skip },
  async (t) => {
    const address = newDatabase();
    const { node: a } = await openNode(
      t,
      address,
      {
        ...loops,
        asks: async (d) => [await d.wait("q", { ask, schema: anything }), await d.wait("r", { ask, schema: anything })],
      },
      { name: "a", ...slow },
    );
    await a.tasks.start(task("asks"));
    const wait = await question(a);
    await a.engine.deliver(wait, answer("red"), person);
    const root = Number((await a.node.rows("SELECT root FROM trees"))[0]?.["root"]);
    const body = JSON.stringify({ do: "deliver", wait, value: answer("red"), by: person });
    await a.node.rows("INSERT INTO commands (root, body, taken) VALUES ($1, $2, true)", [root, body]);
    await a.beat();
    const done = await until(async () => {
      const [row] = await a.node.rows("SELECT outcome FROM commands");
      return typeof row?.["outcome"] === "string" ? row["outcome"] : undefined;
    }, "the command has its outcome");
    assert.deepEqual(JSON.parse(done), { value: { outcome: "accepted" } });
  },
);

test("the same key at two nodes at once starts one tree, and a claim of a dead node is free", { skip }, async (t) => {
  const address = newDatabase();
  const { node: a } = await openNode(t, address, loops, { name: "a", ...slow });
  const { node: b } = await openNode(t, address, loops, { name: "b", ...slow });
  const [same, other] = [{ once: { key: "k", content: "c" } }, { once: { key: "k", content: "other" } }];
  const started = await Promise.all([a, b, a, b, b, a].map((each) => each.tasks.start(task("asks"), same)));
  assert.equal(new Set(started.map((each) => each.task)).size, 1);
  assert.equal(started.filter(({ existed }) => !existed).length, 1);
  assert.equal((await a.node.rows("SELECT 1 FROM trees")).length, 1);
  assert.equal(await codeOf(b.tasks.start(task("asks"), other)), "conflict");
  const plain = await Promise.all([a, b, b, a].map((each) => each.tasks.start(task("asks"), { key: "plain" })));
  assert.equal(new Set(plain.map((each) => each.task)).size, 1);
  await a.node.rows("INSERT INTO keys (key, claimed_by) VALUES ('left', 4711)");
  assert.equal((await a.tasks.start(task("asks"), { key: "left" })).existed, false);
});

test(
  "service records are one: two operators that join one name at two nodes, and a key that is revoked at one",
  { skip },
  async (t) => {
    const address = newDatabase();
    const { node: a } = await openNode(t, address, loops, { name: "a", ...slow });
    const { node: b } = await openNode(t, address, loops, { name: "b", ...slow });
    const key = { id: "k1", name: "laptop", role: "operator", digest: "d", created_at: 1, revoked_at: null } as const;
    a.node.store.records.addKey(key);
    await a.node.store.committed();
    await until(() => b.node.store.records.keys().length === 1, "the other node knows the key");
    const operator = { digest: "d", roles: ["gate"], created_at: 1, seen_at: 1, api_key: "k1" };
    for (const [each, sid] of [
      [a, "s1"],
      [b, "s2"],
    ] as const)
      each.node.store.records.addOperator({ ...operator, sid });
    await Promise.all([a, b].map((each) => each.node.store.committed()));
    const holder = a.node.store.records.sidOfRole("gate");
    await until(() => b.node.store.records.sidOfRole("gate") === holder, "both nodes name the same holder");
    assert.ok(holder === "s1" || holder === "s2");
    b.node.store.records.revokeKey("k1", 5);
    await b.node.store.committed();
    await until(() => a.node.store.records.keys()[0]?.revoked_at === 5, "the first node refuses the key");
    assert.deepEqual([a.node.store.records.operators(), b.node.store.records.operators()], [[], []]);
  },
);

test(
  "messages at once into one thread at two nodes: each has its own place, and they begin one after the other",
  { skip },
  async (t) => {
    const address = newDatabase();
    const { node: a } = await openNode(t, address, loops, { name: "a", ...slow });
    const { node: b } = await openNode(t, address, loops, { name: "b", ...slow });
    const thread = { project: "", thread: "talk", kind: "agent" } as const;
    const rows: typeof a.node.rows = (sql, values) => a.node.rows(sql, values);
    const started = await Promise.all([a, b, b, a, a, b].map((each) => each.tasks.start(task("asks"), { thread })));
    const said = await rows("SELECT thread, position, task FROM thread_entries ORDER BY position");
    assert.deepEqual(
      said.map((row) => row["position"]),
      [1, 2, 3, 4, 5, 6],
    );
    assert.equal(new Set(said.map((row) => row["thread"])).size, 1, "the name has one thread");
    const inOrder = said.map((row) => taskName(a.node.store.salt, Number(row["task"])));
    assert.deepEqual(new Set(inOrder), new Set(started.map((each) => each.task)));
    for (const [at, each] of inOrder.entries()) {
      const waits = await until(async () => {
        const found = await rows("SELECT task FROM waits");
        return found.length > at && found;
      }, `${each} has begun`);
      assert.deepEqual(
        new Set(waits.map((row) => taskName(a.node.store.salt, Number(row["task"])))),
        new Set(inOrder.slice(0, at + 1)),
        "nobody begins before its turn",
      );
      await (at % 2 === 0 ? a : b).tasks.cancel(each, "next");
    }
    assert.deepEqual(await rows("SELECT key FROM keys WHERE key LIKE 'thread %'"), [], "no claim is left");
  },
);
