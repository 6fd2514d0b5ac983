// Every test of the service records once more, on PostgreSQL.

import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { sharedServer } from "../../../test/support/stores.ts";

if (postgresPrograms() === undefined) test("service records on PostgreSQL", { skip: "PostgreSQL is not installed" });
else {
  process.env["TUTTI_STORE"] = "postgres";
  after(() => sharedServer().stop());
  await import("../sqlite/sqlite-service-records.test.ts");
}
