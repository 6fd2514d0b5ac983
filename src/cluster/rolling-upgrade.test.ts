import assert from "node:assert/strict";
import { after, test, type TestContext } from "node:test";

import { openNode } from "../../test/support/cluster-kit.ts";
import { again, anything, codeOf, type Loops, task } from "../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { until } from "../../test/support/wait-until.ts";
import { idInName } from "../store/names.ts";
import { ask, connectTo, type DatabaseAddress } from "../store/postgres/database-connection.ts";
import { schemaVersion } from "../store/postgres/database.ts";
import { joinDatabase, type NodeStore, openPostgresStore } from "../store/postgres/postgres-store.ts";
import { type KnownSchema, knownSchema } from "../store/postgres/schema.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const [own] = [knownSchema.migrations.length];
/** The next version, which only adds: it commits through a function of its own, beside the one that is there. */
const next: KnownSchema = {
  migrations: [
    ...knownSchema.migrations,
    `ALTER TABLE log ADD COLUMN weather text;
     ALTER TABLE tasks ADD COLUMN mood text NOT NULL DEFAULT 'calm';
     ALTER TABLE api_keys ADD COLUMN colour text;
     CREATE TABLE dreams (id bigint PRIMARY KEY);
     CREATE FUNCTION commit_batch(p_incarnation bigint, p_number bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT 0::bigint $$;`,
  ],
  breaking: knownSchema.breaking,
};
/** One with which the version before it cannot work. */
const breaking: KnownSchema = {
  migrations: [...next.migrations, "ALTER TABLE log RENAME COLUMN weather TO climate"],
  breaking: [...next.breaking, next.migrations.length + 1],
};

async function joinAs(t: TestContext, address: DatabaseAddress, name: string, known: KnownSchema): Promise<NodeStore> {
  const identity = { name, url: "", labels: [], version: "next", leaseMs: 60_000 };
  const node = openPostgresStore(address, await joinDatabase(address, identity, known), tempFolder(t));
  t.after(() => node.close());
  return node;
}

const loops: Loops = {
  work: async (d) => {
    await d.step("a", again, () => "done");
    return "over";
  },
};

test(
  "nodes of two versions work side by side: the newer one changes the tables, and the older one goes on, also when it joins anew",
  { skip },
  async (t) => {
    const address = newDatabase();
    const old = await openNode(t, address, loops, { name: "old" });
    await joinAs(t, address, "new", next);
    const { task: first } = await old.node.tasks.start(task("work"));
    assert.equal((await old.node.engine.result(first)).status, "completed");
    old.node.node.store.records.addKey({
      id: "k",
      name: "k",
      role: "viewer",
      digest: "d",
      created_at: 1,
      revoked_at: null,
    });
    await old.node.node.store.committed();
    const later = await openNode(t, address, loops, { name: "also old" });
    assert.deepEqual(
      later.node.node.store.records.keys().map(({ id }) => id),
      ["k"],
    );
    const { task: second } = await later.node.tasks.start(task("work"));
    assert.equal((await later.node.engine.result(second)).status, "completed");
    const client = await connectTo(address);
    t.after(() => client.end());
    assert.deepEqual(await schemaVersion(client), { version: own + 1, oldest: own });
    const [made] = await ask(client, "SELECT count(*) AS value FROM tasks WHERE mood = 'calm'");
    assert.equal(made?.["value"], 2);
  },
);

test(
  "a change that older nodes cannot work with waits until they are gone, and then none of them joins",
  { skip },
  async (t) => {
    const address = newDatabase();
    const old = await openNode(t, address, loops, { name: "the old one" });
    await assert.rejects(joinAs(t, address, "new", breaking), /the old one/);
    const { task: first } = await old.node.tasks.start(task("work"));
    assert.equal((await old.node.engine.result(first)).status, "completed");
    await old.node.close();
    await joinAs(t, address, "new", breaking);
    assert.equal(await codeOf(openNode(t, address, loops, { name: "old" })), "newer");
    // Neither does the version in between, of which nothing was there.
    assert.equal(await codeOf(joinAs(t, address, "between", next)), "newer");
  },
);

test(
  "a tree with a record that this version does not know is left to a node of a newer version",
  { skip },
  async (t) => {
    const address = newDatabase();
    const old = await openNode(
      t,
      address,
      { waits: (d) => d.wait("it", { label: "it", schema: anything }) },
      { name: "old" },
    );
    const { task: name } = await old.node.tasks.start(task("waits"));
    const root = idInName(old.node.node.store.salt, name) ?? 0;
    const newer = await joinAs(t, address, "new", next);
    await old.node.close();
    const client = await connectTo(address);
    t.after(() => client.end());
    await ask(client, "UPDATE log SET type = 'task.dreamt' WHERE id >= $1 AND type = 'task.started'", [root]);
    const other = await openNode(t, address, loops, { name: "also old" });
    await other.node.beat();
    const parked = await until(async () => {
      const [tree] = await ask(client, "SELECT owner, needs::text AS needs FROM trees WHERE root = $1", [root]);
      return tree?.["owner"] === null ? tree : undefined;
    });
    assert.equal(parked["needs"], `{schema:${own + 1}}`);
    await other.node.beat();
    const taken = await newer.rows("SELECT root FROM take_trees($1, 10)", [newer.incarnation]);
    assert.deepEqual(taken, [{ root }]);
  },
);
