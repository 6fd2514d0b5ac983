// Idempotency keys over a real daemon: each caller has its own, and pruning a task does not make its request run again.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { daemonFor } from "../e2e/daemon-process.ts";
import { talking } from "../e2e/scenario-invocations.ts";
import { scenarioOf } from "../e2e/scenario.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");

test("callers that use the same idempotency key do not see each other's tasks", async (t) => {
  const daemon = await daemonFor(t);
  const mine = daemon.client();
  const { key } = await mine.addKey({ name: "other", role: "operator" });
  const theirs = daemon.client(key);
  const options = { folder: daemon.folder, key: "order-17" };
  const first = await mine.invoke(talking(1), options);
  const second = await theirs.invoke(talking(2), options);
  assert.deepEqual([second.existed, first.task === second.task], [false, false], "another body is no conflict");
  assert.deepEqual(await mine.invoke(talking(1), options), { ...first, existed: true });
  assert.deepEqual(await theirs.invoke(talking(2), options), { ...second, existed: true });
  await assert.rejects(theirs.invoke(talking(1), options), { code: "conflict" });
});

test("a request that is sent again after its task was pruned is told so and does not run", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const task = await scenario.start(talking(1), "order-18");
  assert.equal(await scenario.outcome(task), "completed: talked");
  await scenario.client.settled(task);
  await daemon.stop();
  const args = [bin, "prune", "--older", "0s", "--json", "--state", daemon.state];
  const pruned = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 240_000 });
  assert.match(pruned.stdout, /"trees":1/, pruned.stderr);
  await daemon.up();
  const again = scenario.client.invoke(talking(1), { folder: daemon.folder, key: "order-18" });
  await assert.rejects(again, { code: "expired", message: /was pruned; it is not run again/ });
  assert.deepEqual((await scenario.client.tasks()).tasks, []);
});
