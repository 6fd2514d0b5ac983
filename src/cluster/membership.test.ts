import { after, test } from "node:test";

import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { until } from "../../test/support/wait-until.ts";
import { connectTo } from "../store/postgres/database-connection.ts";
import { joinDatabase } from "../store/postgres/postgres-store.ts";
import { Membership } from "./membership.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

test(
  "a node that stops renewing leaves no connection open, also if it was just connecting: it would keep the process",
  { skip },
  async (t) => {
    const address = newDatabase();
    const leaseMs = 60_000;
    const identity = { name: "a", url: "", labels: [], version: "test", leaseMs };
    const { incarnation } = await joinDatabase(address, identity);
    const client = await connectTo(address);
    t.after(() => client.end());
    for (const close of ["close", "leave"] as const) {
      const membership = new Membership({
        address,
        incarnation,
        leaseMs,
        labels: { tell: async () => undefined },
        takeUp: async () => undefined,
        onLost: () => undefined,
      });
      const starting = membership.start();
      await membership[close]();
      await starting;
      await until(async () => {
        const sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'tutti' AND pid <> pg_backend_pid()";
        return (await client.query(sql)).rows.length === 0;
      }, `no connection is left after ${close}`);
    }
  },
);
