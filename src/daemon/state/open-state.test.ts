import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asking } from "../../../test/e2e/scenario-invocations.ts";
import { openTestState } from "../../../test/support/state-on-store.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";

test("operators that joined with a key are torn down with it, over a restart too; others stay", async (t) => {
  const folder = tempFolder(t);
  const first = await openTestState(folder);
  const [bad, good] = await Promise.all(["bad", "good"].map((name) => first.keys.add({ name, role: "operator" })));
  const leaving = await first.operators.join(["gate"], bad?.id ?? "");
  const staying = await first.operators.join(["builder"], good?.id ?? "");
  assert.ok(leaving.ok && staying.ok);
  await first.keys.revoke(bad?.id ?? "");
  assert.equal(first.operators.authenticates(leaving.sid, leaving.token), "unknown_sid");
  await first.close();
  const second = await openTestState(folder);
  t.after(() => second.close());
  assert.deepEqual(
    second.operators.list().map(({ sid }) => sid),
    [staying.sid],
  );
  assert.equal((await second.operators.join(["gate"], good?.id ?? "")).ok, true, "its name is free");
});

test("opened to resume later, a state is read at once and takes its work up when it is told", async (t) => {
  const folder = tempFolder(t);
  const first = await openTestState(folder);
  const { task } = await first.client.invoke(asking(), { folder, anew: true });
  await until(() => first.engine.counts().input_required === 1);
  await first.close();
  const second = await openTestState(folder, { resume: "later" });
  t.after(() => second.close());
  const before = await second.client.status();
  assert.deepEqual([before.starting, before.resumed], [true, 0]);
  assert.deepEqual(second.engine.counts(), { pending: 0, running: 0, input_required: 0 });
  assert.equal((await second.client.task(task))?.id, task);
  await second.resume();
  const after = await second.client.status();
  assert.deepEqual([after.starting, after.resumed], [false, 2]);
});

test("opened never to resume, a state runs no task and no config, and its tasks can be canceled", async (t) => {
  const folder = tempFolder(t);
  const first = await openTestState(join(folder, "state"));
  const { task } = await first.client.invoke(asking(), { folder, anew: true });
  await until(() => first.engine.counts().input_required === 1);
  await first.close();
  writeFileSync(join(folder, "tutti.config.mjs"), `process.exitCode = 99; throw new Error("the config was run");`);
  const second = await openTestState(join(folder, "state"), { resume: "never" });
  t.after(() => second.close());
  assert.equal((await second.client.status()).resumed, 0);
  assert.equal((await second.client.cancel(task, "not wanted")).length, 2);
});
