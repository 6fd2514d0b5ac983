import assert from "node:assert/strict";
import { after, test } from "node:test";

import type pg from "pg";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../../test/support/stores.ts";
import { type BatchRows, rowsOf, type Write } from "./batch-rows.ts";
import { commitFew } from "./commit-few.ts";
import { commitCall, type CommitStatement, fencedCode } from "./commit-sql.ts";
import { ask, connectTo, type Row } from "./database-connection.ts";
import { prepareDatabase } from "./database.ts";
import { treeUnit } from "./tree-ids.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const root = 7 * treeUnit + 1;
const addTask = (id: number, parent: number | null): Write => ({
  name: "addTask",
  values: [id, parent, root, parent === null ? 0 : 1, "loop", "a", 0, 5, null, null, '{"said":"\u0000 and ü"}'],
});
const write = (name: Write["name"], ...values: Write["values"]): Write => ({ name, values });
const line = (id: number, type: string | null): Write =>
  write("addLog", root + id, root, `k${id}`, 9, 1, type, 0, 3, 4, '{"text":"it\'s"}', null);

/** Batches as they follow each other in a small tree. Each has to be few rows, and none that only the function takes. */
const batches: readonly { readonly writes: readonly Write[]; readonly closed?: readonly number[] }[] = [
  {
    writes: [
      addTask(root, null),
      write("addOpen", root),
      write("addRun", root, root, 1, 1, null),
      write("addEvent", root, root, "!1", 5, "task.created", null),
    ],
  },
  { writes: [line(1, "step.finished"), write("addStepStart", root, "s1", 0, null)] },
  { writes: [line(2, null), write("addTimer", root, "t", 77)] },
  { writes: [line(3, null), line(4, "step.finished"), line(5, null), line(6, "message.added")] },
  {
    writes: [
      addTask(root + 1, root),
      addTask(root + 2, root),
      write("addRequest", root + 1, "long"),
      write("addOpen", root + 1),
      write("addOpen", root + 2),
      write("setStatus", "running", root),
    ],
  },
  {
    writes: [write("addWait", root, root, root, root, "w", 5, 6, "question", "{}"), write("addMail", root, root, "{}")],
  },
  {
    writes: [
      write("addResult", root + 1, "completed", 8, "{}"),
      write("addPreview", root + 1, "r"),
      write("dropOpen", root + 1),
    ],
  },
  { writes: [write("dropOpen", root + 2), write("setStatus", "input_required", root)] },
  {
    writes: [line(7, "task.completed"), write("addResult", root, "completed", 9, "{}"), write("dropOpen", root)],
    closed: [root],
  },
];

type Commit = (incarnation: number, number: number, rows: BatchRows) => CommitStatement | undefined;

async function joined(): Promise<{ client: pg.Client; incarnation: number }> {
  const address = newDatabase();
  const client = await connectTo(address);
  await prepareDatabase(client, address.schema);
  const [row] = await ask(client, "SELECT join_cluster('a', '', '{}', 'v', 60000) AS incarnation");
  return { client, incarnation: Number(row?.["incarnation"]) };
}

async function send(client: pg.Client, statement: CommitStatement | undefined): Promise<void> {
  assert.ok(statement !== undefined, "the batch is of this kind");
  await ask(client, statement.text, statement.values, { name: statement.name });
}

async function everything(client: pg.Client): Promise<Record<string, readonly Row[]>> {
  const tables =
    "tasks trees open runs log step_starts timers waits mail results result_previews request_previews due_batches";
  const found: Record<string, readonly Row[]> = {};
  for (const table of tables.split(" ")) found[table] = await ask(client, `SELECT * FROM ${table} t ORDER BY t::text`);
  const [node] = await ask(client, "SELECT last_batch FROM nodes");
  return { ...found, node: node === undefined ? [] : [node] };
}

test(
  "few rows leave the same as one statement and through the function, each batch taken once when it is sent twice",
  { skip },
  async (t) => {
    const after = async (commit: Commit): Promise<Record<string, readonly Row[]>> => {
      const { client, incarnation } = await joined();
      t.after(() => client.end());
      for (const [at, { writes, closed = [] }] of batches.entries()) {
        const statement = commit(incarnation, at + 1, rowsOf(writes, closed));
        await send(client, statement);
        await send(client, statement);
      }
      return everything(client);
    };
    const [few, any] = [await after(commitFew), await after(commitCall)];
    assert.deepEqual(few, any);
    assert.deepEqual(few["node"], [{ last_batch: batches.length }]);
    assert.equal(few["log"]?.length, 8);
    assert.deepEqual(
      few["trees"]?.map((tree) => tree["open"]),
      [0],
    );
  },
);

test("a dead node is refused by the fence, and nothing of its few rows is kept", { skip }, async (t) => {
  const { client, incarnation } = await joined();
  t.after(() => client.end());
  await client.query("UPDATE nodes SET alive = false");
  const [first] = batches;
  const refused = send(client, commitFew(incarnation, 1, rowsOf(first?.writes ?? [], [])));
  await assert.rejects(refused, { code: fencedCode });
  const { node, ...kept } = await everything(client);
  assert.deepEqual(Object.values(kept).flat(), []);
  assert.deepEqual(node, [{ last_batch: 0 }]);
});

test("what depends on other rows of the same batch, changes shared rows or is large goes to the function", () => {
  const few = (writes: readonly Write[], closed: readonly number[] = []): boolean =>
    commitFew(1, 1, rowsOf(writes, closed)) !== undefined;
  assert.ok(few([line(1, null)]));
  assert.ok(!few([addTask(root, null), write("addResult", root, "failed", 9, "{}")], [root]));
  assert.ok(!few([write("addStepStart", root, "s", 0, null), write("noteStepStart", "{}", root, "s")]));
  assert.ok(!few([line(1, null), write("putSetting", "a", "b")]));
  assert.ok(!few(Array.from({ length: 9 }, (_, at) => line(at, null))));
});
