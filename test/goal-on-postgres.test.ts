// The tests of goals and of the manager once more, on PostgreSQL: nothing above the port knows which store it runs on.

import { after, test } from "node:test";

import { postgresPrograms } from "./support/postgres-server.ts";
import { sharedServer } from "./support/stores.ts";

/** `TUTTI_STORE=postgres node --test FILE` runs one of them. */
const files = [
  "./goal-to-report.test.ts",
  "../src/manager/manager.test.ts",
  "../src/manager/manager-crash.test.ts",
  "../src/manager/conversation/conversation-runner.test.ts",
  "../src/runner/assignment/lost-work.test.ts",
  "../src/agent/delegation/resume.test.ts",
];

if (postgresPrograms() === undefined) test("a goal on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  for (const file of files) await import(file);
  // The last of all: what the files have opened is closed before.
  after(() => sharedServer().stop());
}
