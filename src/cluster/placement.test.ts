import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { openNode, type TestNode } from "../../test/support/cluster-kit.ts";
import { codeOf, type Loops, task, text, world } from "../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { NewTask } from "../ports.ts";
import { idInName } from "../store/names.ts";
import { joinDatabase } from "../store/postgres/postgres-store.ts";
import { parkedTrees } from "./parked-trees.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const slow = { leaseMs: 60_000 };
/** Each tree says which node ran it. */
const saying = (name: string): Loops => ({
  where: (d) => d.step("where", { repeatable: true, schema: text }, () => name),
});

const inFolder = (project: string): NewTask => {
  const base = task("where");
  return { ...base, runner: { ...base.runner, config: { project } } };
};

async function needsOf({ node }: TestNode, name: string): Promise<string | undefined> {
  const root = idInName(node.node.store.salt, name);
  const [row] = await node.node.rows("SELECT array_to_json(needs)::text AS needs FROM trees WHERE root = $1", [root]);
  return row === undefined ? undefined : String(row["needs"]);
}

test(
  "a tree goes at once to a node with the labels that it asks for, whichever node was asked",
  { skip },
  async (t) => {
    const address = newDatabase();
    const a = await openNode(t, address, saying("a"), { name: "a", ...slow });
    const b = await openNode(t, address, saying("b"), { name: "b", ...slow, labels: ["gpu", "big"] });
    const started = await a.node.tasks.start(task("where"), { needs: ["gpu"] });
    assert.equal(started.existed, false);
    assert.equal((await a.node.tasks.result(started.task)).content, "b");
    assert.equal(await needsOf(a, started.task), '["gpu"]');
    const here = await b.node.tasks.start(task("where"), { needs: ["big"] });
    assert.equal((await b.node.tasks.result(here.task)).content, "b");
    const anywhere = await a.node.tasks.start(task("where"));
    assert.equal((await a.node.tasks.result(anywhere.task)).content, "a");
  },
);

test(
  "a tree that no node can run is parked with what is missing, and taken when a node joins that has it",
  { skip },
  async (t) => {
    const address = newDatabase();
    const a = await openNode(t, address, saying("a"), { name: "a", ...slow, labels: ["big"] });
    const once = { key: "k", content: "c" };
    const { task: name } = await a.node.tasks.start(task("where"), { needs: ["big", "gpu"], once });
    await a.node.beat();
    const root = idInName(a.node.node.store.salt, name);
    assert.deepEqual(await parkedTrees(a.node.node), [{ root, missing: ["gpu"] }]);
    const again = await a.node.tasks.start(task("where"), { needs: ["big", "gpu"], once });
    assert.deepEqual(again, { task: name, existed: true }, "the same request finds it");
    await openNode(t, address, saying("b"), { name: "b", ...slow, labels: ["gpu", "big"] });
    assert.equal((await a.node.tasks.result(name)).content, "b");
    assert.deepEqual(await parkedTrees(a.node.node), []);
  },
);

test(
  "a tree goes only to a node that has its project: by its folder, or by the name that people gave it",
  { skip },
  async (t) => {
    const address = newDatabase();
    const folder = tempFolder(t, "tutti-projects-");
    const [onA, onB, gone] = [join(folder, "a", "web"), join(folder, "b", "site"), join(folder, "later")];
    for (const each of [join(onA, "part"), onB]) mkdirSync(each, { recursive: true });
    const a = await openNode(t, address, saying("a"), { name: "a", ...slow, projects: new Map([[onA, "web"]]) });
    const named = await a.node.tasks.start(inFolder(join(onA, "part")));
    assert.equal(await needsOf(a, named.task), '["project:web"]', "it works in the project web");
    const unnamed = await a.node.tasks.start(inFolder(folder));
    assert.equal(await needsOf(a, unnamed.task), JSON.stringify([`project:${folder}`]));
    const missing = await a.node.tasks.start(inFolder(gone));
    await a.node.beat();
    const parked = await parkedTrees(a.node.node);
    assert.deepEqual(parked[0]?.missing, [`project:${gone}`]);
    mkdirSync(gone);
    await a.node.beat();
    assert.equal((await a.node.tasks.result(missing.task)).content, "a", "the folder is there now");
    const b = await openNode(t, address, saying("b"), {
      name: "b",
      ...slow,
      projects: new Map([[onB, "web"]]),
      labels: ["gpu"],
    });
    const moved = await a.node.tasks.start(inFolder(onA), { needs: ["gpu"] });
    assert.equal((await a.node.tasks.result(moved.task)).content, "b", "it has the same project, elsewhere");
    const [row] = await b.node.node.rows("SELECT body FROM tasks WHERE id = $1", [
      idInName(a.node.node.store.salt, moved.task),
    ]);
    assert.match(String(row?.["body"]), /"named":\{"name":"web","folder":"[^"]*\/a\/web"\}/);
  },
);

test(
  "a node that takes the place of another one by its name waits for the lease of that one, unless it was in the same place",
  { skip },
  async (t) => {
    const address = newDatabase();
    const loops: Loops = { where: (d) => d.sleep("long", 3_600_000) };
    const a = await openNode(t, address, loops, { name: "a", ...slow });
    await a.node.tasks.start(task("where"));
    const { node } = a.node;
    const taken = async (incarnation: number): Promise<number> =>
      (await node.rows("SELECT root FROM take_trees($1, 10)", [incarnation])).length;
    const identity = { name: "a", url: "", labels: [], version: "test", leaseMs: 60_000 };
    const other = await joinDatabase(address, { ...identity, machine: "one" });
    assert.equal(await taken(other.incarnation), 0, "the first one may still have processes");
    await node.rows("UPDATE node_leases SET until = now() - interval '1 second' WHERE incarnation = $1", [
      node.incarnation,
    ]);
    assert.equal(await taken(other.incarnation), 1);
    const restarted = await joinDatabase(address, { ...identity, machine: "one" });
    assert.equal(await taken(restarted.incarnation), 1, "it is the same place");
  },
);

test("without a database, labels are refused", async (t) => {
  const alone = world(tempFolder(t, "tutti-alone-"), saying("alone"));
  assert.equal(await codeOf(alone.engine.start(task("where"), { needs: ["gpu"] })), "refused");
  assert.equal(alone.engine.counts().pending, 0, "nothing was started");
  await alone.stop();
});
