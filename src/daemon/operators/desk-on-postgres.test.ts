// The tests of operators and workers once more, on PostgreSQL: nothing above the port knows which store it runs on.

import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { sharedServer } from "../../../test/support/stores.ts";

/** `TUTTI_STORE=postgres node --test FILE` runs any other. Those that let time jump need a store that answers at once. */
const files = ["gate", "operator-hub", "thin-flow", "worker-lease"];

if (postgresPrograms() === undefined) test("operators on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  after(() => sharedServer().stop());
  for (const file of files) await import(`./${file}.test.ts`);
}
