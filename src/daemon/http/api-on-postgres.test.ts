// The tests of the API once more, on PostgreSQL: nothing above the port knows which store it runs on.

import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { sharedServer } from "../../../test/support/stores.ts";

/** Those of routes that reach the records. `TUTTI_STORE=postgres node --test FILE` runs any other. */
const files = [
  "./handle-request.test.ts",
  "./event-stream.test.ts",
  "./websocket-upgrade.test.ts",
  "./handlers/handlers.test.ts",
  "./handlers/sign-in-handlers.test.ts",
  "./handlers/insight-handlers.test.ts",
  "../../client/parity.test.ts",
  "../../client/schedules.test.ts",
  "../../client/pull-request-calls.test.ts",
];

if (postgresPrograms() === undefined) test("the API on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  for (const file of files) await import(file);
  // The last of all: what the files have opened is closed before.
  after(() => sharedServer().stop());
}
