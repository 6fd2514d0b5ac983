// The tests of the engine once more, on PostgreSQL: nothing above the port knows which store it runs on.

import { after, test } from "node:test";

import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { sharedServer } from "../../test/support/stores.ts";

/** Those of what a store can make different. `TUTTI_STORE=postgres node --test FILE` runs any other. */
const files = ["trees", "engine", "recovery", "waits", "run-waits", "run-step", "during-step", "again", "stopped-task"];

if (postgresPrograms() === undefined) test("the engine on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  after(() => sharedServer().stop());
  for (const file of files) await import(`./${file}.test.ts`);
}
