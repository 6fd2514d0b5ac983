// A goal from its text to its report once more, on a node over PostgreSQL.

import { after, test } from "node:test";

import { postgresPrograms } from "./support/postgres-server.ts";
import { sharedServer } from "./support/stores.ts";

if (postgresPrograms() === undefined) test("a goal on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  after(() => sharedServer().stop());
  await import("./goal-to-report.test.ts");
}
