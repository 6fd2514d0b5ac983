import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../../test/support/stores.ts";
import type { Cleanup } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import type { DatabaseAddress } from "./database-connection.ts";
import { listenTo } from "./listener.ts";
import { joinDatabase } from "./postgres-store.ts";
import { stamper } from "./sequence.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

/** A way to the database on which connections can fall silent: they stay open, and nothing is heard on them any more. */
async function silencedWay(t: Cleanup, { schema }: DatabaseAddress): Promise<DatabaseAddress & { silence(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ path: join(sharedServer().folder, ".s.PGSQL.5432") });
    for (const each of [near, far]) sockets.add(each.on("error", () => undefined));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    for (const each of sockets) each.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") return assert.fail("the way has no port");
  return {
    url: `postgres://tutti@127.0.0.1:${address.port}/postgres`,
    schema,
    silence() {
      for (const each of sockets) each.unpipe().pause();
    },
  };
}

test("a server that is gone without a word is noticed, and there is another connection to it", { skip }, async (t) => {
  const database = newDatabase();
  await joinDatabase(database, { name: "a", url: "", labels: [], version: "test", leaseMs: 60_000 });
  const way = await silencedWay(t, database);
  const heard: string[] = [];
  const listener = listenTo(way, ["events"], (channel) => heard.push(channel));
  t.after(() => listener.close());
  const sequence = stamper(() => listener.client(), 500);
  t.after(() => sequence.close());
  const first = await listener.client();
  way.silence();
  sequence.due();
  const isOther = async (): Promise<boolean> => (await listener.client().catch(() => first)) !== first;
  await until(isOther, "there is another connection");
  const before = heard.length;
  await (await listener.client()).query(`SELECT pg_notify('tutti_events_${way.schema}', '')`);
  await until(() => heard.length > before, "something is heard again");
});
