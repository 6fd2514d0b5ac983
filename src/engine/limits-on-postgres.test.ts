// The tests of what holds the engine back, and of trees at random, once more on PostgreSQL. A file of their own, since they take a while.

import { after, test } from "node:test";

import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { sharedServer } from "../../test/support/stores.ts";

const files = ["budget-gate", "day-cap", "pause-switch", "crash-guard", "random-trees"];

if (postgresPrograms() === undefined) test("limits on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  for (const file of files) await import(`./${file}.test.ts`);
  // The last of all: what the files have opened is closed before.
  after(() => sharedServer().stop());
}
