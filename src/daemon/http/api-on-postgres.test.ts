// The tests of the API once more, on PostgreSQL: nothing above the port knows which store it runs on.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;

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
const patienceMs = 180_000;

interface Ended {
  readonly passed: boolean;
  readonly output: string;
}

/** Each file has services that it closes when its process ends, so each has a process and a database of its own. */
function run(file: string): Promise<Ended> {
  // The test runner would take a process with its own variable for one of its own and hide what it prints.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, TUTTI_STORE: "postgres" };
  const args = ["--test", "--test-reporter=spec", join(import.meta.dirname, file)];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, timeout: patienceMs, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({ passed: error === null, output: `${stdout}\n${stderr}` }),
    );
  });
}

describe("the API on PostgreSQL", { skip }, () => {
  for (const file of files) {
    test(file, async () => {
      const { passed, output } = await run(file);
      assert.ok(passed, output);
      assert.match(output, /^ℹ pass [1-9]/m, "tests ran");
    });
  }
});
