// The tests of what the API is made of once more, on PostgreSQL: keys, threads, conversations and sessions.

import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { sharedServer } from "../../../test/support/stores.ts";

/** `TUTTI_STORE=postgres node --test FILE` runs one of them. */
const files = [
  "./api-keys.test.ts",
  "./page-tokens.test.ts",
  "./open-state.test.ts",
  "./start-invocation.test.ts",
  "./session-control.test.ts",
  "./retry-task.test.ts",
  "./thread-control.test.ts",
  "./thread-messages.test.ts",
  "./conversation-control.test.ts",
  "./conversation-verbs.test.ts",
];

if (postgresPrograms() === undefined) test("the state on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  for (const file of files) await import(file);
  // The last of all: what the files have opened is closed before.
  after(() => sharedServer().stop());
}
