// The budgets of tasks once more, on PostgreSQL, where any node may be asked.

import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { sharedServer } from "../../../test/support/stores.ts";

if (postgresPrograms() === undefined) test("budgets on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  after(() => sharedServer().stop());
  await import("./read-budget.test.ts");
}
