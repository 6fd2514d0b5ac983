import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { type Kit, openKit } from "../../../test/support/http-kit.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { httpClient } from "../../client/http-client.ts";
import type { Tutti } from "../../client/client.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";

const file = (rules: readonly object[]): string =>
  JSON.stringify({
    invocation: single(named("a", "go")),
    agents: { a: { instructions: "a", tools: ["ask"] } },
    script: { rules },
  });
const quick = file([{ final: "done" }]);
const asking = file([{ turn: 0, ask: { question: "Which?", choices: ["x", "y"] } }, { final: "{{last}}" }]);

async function sides(t: TestContext): Promise<{ kit: Kit; remote: Tutti }> {
  const kit = await openKit();
  t.after(() => kit.close());
  const remote = httpClient({ url: kit.http.url, key: kit.key });
  t.after(() => remote.close());
  return { kit, remote };
}

test("a root task that is over is done again by a new task, once for each key, and stays as it is", async (t) => {
  const { kit, remote } = await sides(t);
  const { task } = await remote.invoke(quick, { folder: kit.folder });
  const before = await remote.result(task);
  const key = "again-1";
  const [one, two] = await Promise.all([remote.retry(task, { key }), kit.state.client.retry(task, { key })]);
  assert.equal(one.task, two.task);
  assert.notEqual(one.task, task);
  assert.equal((await remote.result(one.task)).status, "completed");
  assert.deepEqual(await remote.retry(task, { key }), { task: one.task, existed: true });
  assert.equal((await remote.tasks()).tasks.length, 2);
  assert.deepEqual(await remote.result(task), before);
  await assert.rejects(remote.retry(one.task, { key }), failsWith("conflict", /idempotency key was used/));
});

test("a task that is not over is refused unless its attempt is to be given up, and a key does that once", async (t) => {
  const { kit, remote } = await sides(t);
  const { task } = await remote.invoke(asking, { folder: kit.folder });
  await assert.rejects(remote.retry(task), failsWith("conflict", /is not over: it is \w+; .*give_up/));
  const given = { giveUp: true, key: "k" };
  assert.deepEqual(await remote.retry(task, given), { task, existed: false });
  assert.deepEqual(await remote.retry(task, given), { task, existed: true });
  assert.equal((await remote.task(task)).attempt, 2);
  await remote.cancel(task, "enough");
  assert.deepEqual(await remote.retry(task, given), { task, existed: true });
});

test("a task that is nowhere, one below a root that is over, and a viewer's request are refused", async (t) => {
  const { kit, remote } = await sides(t);
  const { task } = await remote.invoke(quick, { folder: kit.folder });
  await remote.settled(task);
  const child = (await remote.tree(task))[1]?.id ?? "";
  await assert.rejects(remote.retry(child), failsWith("conflict", new RegExp(`retry the whole tree, ${task}`)));
  await assert.rejects(remote.retry("tsk_0_1"), failsWith("not_found", /there is no task/));
  const { key } = await remote.addKey({ name: "v", role: "viewer" });
  const viewer = httpClient({ url: kit.http.url, key });
  await assert.rejects(viewer.retry(task), failsWith("refused", /role/));
  await viewer.close();
});
