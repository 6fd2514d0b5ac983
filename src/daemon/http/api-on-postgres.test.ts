// The tests of the API once more, on PostgreSQL: nothing above the port knows which store it runs on.

import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { sharedServer } from "../../../test/support/stores.ts";

/** `TUTTI_STORE=postgres node --test FILE` runs any other. */
const files = [
  "./handlers/handlers.test.ts",
  "./handlers/sign-in-handlers.test.ts",
  "./handlers/insight-handlers.test.ts",
  "../state/session-control.test.ts",
  "../state/retry-task.test.ts",
  "../state/thread-control.test.ts",
  "../state/thread-messages.test.ts",
  "../state/conversation-control.test.ts",
  "../../client/parity.test.ts",
  "../../client/schedules.test.ts",
];

if (postgresPrograms() === undefined) test("the API on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  after(() => sharedServer().stop());
  for (const file of files) await import(file);
}
