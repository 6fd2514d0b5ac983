// The tests of the engine once more, on PostgreSQL: nothing above the port knows which store it runs on.

import { after, test } from "node:test";

import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { sharedServer } from "../../test/support/stores.ts";

/** Those that have a store, without those in `limits-on-postgres`. `TUTTI_STORE=postgres node --test FILE` runs one of them. */
const files = [
  "trees",
  "engine",
  "recovery",
  "waits",
  "run-waits",
  "run-step",
  "run-children",
  "during-step",
  "again",
  "stopped-task",
  "subtree",
  "driver",
  "durable-run",
  "replay",
  "snapshot",
  "status",
  "event-view",
  "redaction",
];

if (postgresPrograms() === undefined) test("the engine on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  for (const file of files) await import(`./${file}.test.ts`);
  // The last of all: what the files have opened is closed before.
  after(() => sharedServer().stop());
}
