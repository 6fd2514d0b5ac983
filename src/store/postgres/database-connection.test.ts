import assert from "node:assert/strict";
import { after, test } from "node:test";

import { codeOf } from "../../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../../test/support/stores.ts";
import { until, within } from "../../../test/support/wait-until.ts";
import { connectTo, readsFrom } from "./database-connection.ts";
import { listenTo } from "./listener.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

test(
  "reads that are ended tell everybody who waits, also for a connection, and do not wait for a server that is slow",
  { skip },
  async (t) => {
    const address = newDatabase();
    const reads = readsFrom(address, 1);
    const other = await connectTo(address);
    t.after(() => other.end());
    const [slow, queued] = [codeOf(reads.rows("SELECT pg_sleep(60)")), codeOf(reads.rows("SELECT 1 AS one"))];
    const sleeping = "FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'";
    await until(async () => (await other.query(`SELECT 1 ${sleeping}`)).rows.length === 1, "the server is busy");
    const ended = reads.end();
    assert.deepEqual(await within(() => Promise.all([slow, queued]), "an answer"), ["stopped", "stopped"]);
    assert.equal(await codeOf(reads.rows("SELECT 1 AS one")), "stopped");
    await within(() => ended, "the end of the reads");
    await reads.end();
    await other.query(`SELECT pg_terminate_backend(pid) ${sleeping}`);
  },
);

test("a listener that is closed connects no more, also if its connection had just been lost", { skip }, async (t) => {
  const address = newDatabase();
  const other = await connectTo(address);
  t.after(() => other.end());
  const listener = listenTo(address, ["events"], () => undefined);
  const ended = Promise.withResolvers<void>();
  const client = await listener.client();
  client.once("end", () => ended.resolve());
  const connections = "FROM pg_stat_activity WHERE application_name = 'tutti' AND pid <> pg_backend_pid()";
  await other.query(`SELECT pg_terminate_backend(pid) ${connections}`);
  await within(() => ended.promise, "the end of the connection");
  await listener.close();
  assert.equal(await codeOf(listener.client()), "stopped");
  assert.deepEqual((await other.query(`SELECT pid ${connections}`)).rows, []);
});
