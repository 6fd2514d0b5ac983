import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openNode, type TestNode } from "../../test/support/cluster-kit.ts";
import { anything, type Loops, person, task, text } from "../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { until } from "../../test/support/wait-until.ts";
import type { Durable, NewTask } from "../ports.ts";
import { userMessage } from "../protocol/task/message.ts";
import { idInName } from "../store/names.ts";
import { type ParkedTree, parkedReason, parkedTrees } from "./parked-trees.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const slow = { leaseMs: 60_000 };
const once = { repeatable: false, schema: text } as const;
const ofKind = (kind: string): NewTask => ({ ...task("where"), runner: { kind, config: {} } });

/** What they did, by node. */
type Done = string[];

const loopsOf = (name: string, done: Done): Loops => ({
  where: (d) =>
    d.step("where", { repeatable: true, schema: text }, () => {
      done.push(`${name} where`);
      return name;
    }),
  // Spawns one that needs the runner `deploy`, and one that does not.
  parent: async (d) => {
    const before = await d.step("before", { repeatable: true, schema: text }, () => name);
    return { before, after: await contents(d) };
  },
  worked: async (d) => {
    await d.step("work", once, () => name);
    return contents(d);
  },
  asks: (d) => d.wait("q", { label: "q", schema: anything }),
});

async function contents(d: Durable): Promise<unknown> {
  const ids = await d.spawn("children", [ofKind("deploy"), task("where")]);
  return (await d.join(ids)).map(({ content, status }) => content ?? status);
}

async function rootOfTree({ node }: TestNode, name: string): Promise<Record<string, unknown>> {
  const sql = `SELECT array_to_json(needs)::text AS needs, n.name AS owner FROM trees t
    LEFT JOIN nodes n ON n.incarnation = t.owner AND n.alive WHERE root = $1`;
  const [row] = await node.node.rows(sql, [idInName(node.node.store.salt, name)]);
  return { ...row };
}

const parkedAt = ({ node }: TestNode): Promise<ParkedTree[]> => parkedTrees(node.node);

test("a tree goes to a node that has the runner of its root, or is parked until one joins", { skip }, async (t) => {
  const [address, done]: [ReturnType<typeof newDatabase>, Done] = [newDatabase(), []];
  const a = await openNode(t, address, loopsOf("a", done), { name: "a", ...slow });
  const { task: name } = await a.node.tasks.start(ofKind("sign"));
  await a.node.beat();
  assert.deepEqual(await rootOfTree(a, name), { needs: '["runner:sign"]', owner: null });
  assert.deepEqual((await parkedAt(a))[0]?.missing, ["runner:sign"]);
  const told = await a.node.tasks.start(task("where"), { runners: ["sign"] });
  const b = await openNode(t, address, loopsOf("b", done), { name: "b", ...slow, kinds: ["sign"] });
  assert.equal((await a.node.tasks.result(name)).content, "b");
  assert.equal((await a.node.tasks.result(told.task)).content, "b", "its tasks were known to need it");
  assert.deepEqual(await parkedAt(b), []);
  const elsewhere = await a.node.tasks.start(ofKind("sign"));
  assert.equal((await a.node.tasks.result(elsewhere.task)).content, "b", "it goes there at once");
});

test(
  "a tree whose child needs a runner that its node does not have goes on at a node that has it, and repeats nothing",
  { skip },
  async (t) => {
    const [address, done]: [ReturnType<typeof newDatabase>, Done] = [newDatabase(), []];
    const a = await openNode(t, address, loopsOf("a", done), { name: "a", ...slow });
    await openNode(t, address, loopsOf("b", done), { name: "b", ...slow, kinds: ["deploy"] });
    const { task: name } = await a.node.tasks.start(task("parent"));
    const { content } = await a.node.tasks.result(name);
    assert.deepEqual(content, { before: "a", after: ["b", done.includes("a where") ? "a" : "b"] });
    assert.equal(done.length, 2, "each child was run once");
    assert.equal((await rootOfTree(a, name))["needs"], '["runner:deploy"]');
  },
);

test(
  "while no node has the runner of a child, only the child waits, shown with the reason; it is told, canceled, or goes on when a node joins",
  { skip },
  async (t) => {
    const [address, done]: [ReturnType<typeof newDatabase>, Done] = [newDatabase(), []];
    const a = await openNode(t, address, loopsOf("a", done), { name: "a", ...slow });
    const start = async (): Promise<{ root: string; child: string }> => {
      const { task: root } = await a.node.tasks.start(task("parent"));
      const id = idInName(a.node.node.store.salt, root);
      await until(async () => (await parkedAt(a)).some((tree) => tree.root === id), "it is shown");
      const session = await a.node.tasks.session(root);
      const child = session?.children.find(({ runner }) => runner === "deploy")?.task;
      assert.ok(child !== undefined);
      return { root, child };
    };
    const [first, second] = [await start(), await start()];
    await until(() => done.length === 2, "what needs nothing else goes on");
    const [shown] = await parkedAt(a);
    assert.deepEqual([shown?.missing, shown?.owner], [["runner:deploy"], "a"]);
    assert.match(parkedReason(shown ?? { missing: [] }), /a task waits at a: no node that is up has runner:deploy/);
    await a.node.tasks.message(first.child, userMessage("kept"));
    await a.node.tasks.stopTask(first.child, "not now");
    await a.node.tasks.resumeTask(first.child, person);
    assert.deepEqual(await a.node.tasks.cancel(second.child, "not needed"), [second.child]);
    assert.deepEqual((await a.node.tasks.result(second.root)).content, { before: "a", after: ["not needed", "a"] });
    assert.equal((await parkedAt(a)).length, 1);
    await openNode(t, address, loopsOf("b", done), { name: "b", ...slow, kinds: ["deploy"] });
    assert.deepEqual((await a.node.tasks.result(first.root)).content, { before: "a", after: ["b", "a"] });
    assert.deepEqual(done.toSorted(), ["a where", "a where", "b where"]);
  },
);

test(
  "a tree that did something on the machine of its node stays there and says so; another node takes it when that one is gone",
  { skip },
  async (t) => {
    const [address, done]: [ReturnType<typeof newDatabase>, Done] = [newDatabase(), []];
    const a = await openNode(t, address, loopsOf("a", done), { name: "a", ...slow });
    const b = await openNode(t, address, loopsOf("b", done), { name: "b", ...slow, kinds: ["deploy"] });
    const { task: name } = await a.node.tasks.start(task("worked"));
    const shown = await until(
      async () => (await parkedAt(b)).find(({ elsewhere }) => elsewhere === "b"),
      "it is shown with the node that has the runner",
    );
    assert.deepEqual([shown.owner, shown.missing], ["a", ["runner:deploy"]]);
    assert.match(parkedReason(shown), /which b has, but what was done before is on the machine of a/);
    await a.node.close();
    assert.deepEqual((await b.node.tasks.result(name)).content, ["b", "a"]);
  },
);
