// The fuzzer for a few seconds with a fixed seed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { runFuzz } from "./run-fuzz.ts";

test("no request, however wrong, gets a server error, a silence, an undeclared reply, or the daemon down", async () => {
  const report = await runFuzz({ seconds: 5, seed: 20_260_101, largeResults: 10 });
  const { server_errors, hangs, crashes, undeclared, findings } = report;
  assert.deepEqual(
    { server_errors, hangs, crashes, undeclared, findings },
    {
      server_errors: 0,
      hangs: 0,
      crashes: 0,
      undeclared: 0,
      findings: [],
    },
  );
  assert.ok(report.requests > 200, `${report.requests} requests`);
  // It is no proof of anything if everything is refused.
  assert.ok(report.succeeded.length >= 30, report.succeeded.join(" "));
});
