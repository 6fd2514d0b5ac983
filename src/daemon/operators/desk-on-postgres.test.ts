// The tests of operators and workers once more, on PostgreSQL: nothing above the port knows which store it runs on.

import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { sharedServer } from "../../../test/support/stores.ts";

/** `TUTTI_STORE=postgres node --test FILE` runs one of them. */
const files = [
  "./gate.test.ts",
  "./operator-hub.test.ts",
  "./operator-hub-time.test.ts",
  "./operator-sessions.test.ts",
  "./session-model.test.ts",
  "./request-sender.test.ts",
  "./tickets.test.ts",
  "./leases.test.ts",
  "./limits.test.ts",
  "./thin-flow.test.ts",
  "./worker-lease.test.ts",
  "./worker-quota.test.ts",
  "./worker-service.test.ts",
  "../../runner/operator/failed-work.test.ts",
  "../../runner/schedule/runner.test.ts",
];

if (postgresPrograms() === undefined) test("operators on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  for (const file of files) await import(file);
  // The last of all: what the files have opened is closed before.
  after(() => sharedServer().stop());
}
