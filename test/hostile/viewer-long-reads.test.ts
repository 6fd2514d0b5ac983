// A viewer reads long records over and over, as fast as they come: everybody else is served in between.

import assert from "node:assert/strict";
import { test } from "node:test";

import { goalOfTask } from "../../src/core/goal-id.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { taskName } from "../../src/store/names.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { DaemonProcess } from "../e2e/daemon-process.ts";
import { send } from "../e2e/send-json.ts";
import { taskRow } from "../support/task-row.ts";

const readers = 24;
const messages = 3_000;
/** Generous, because the tests of other files run at the same time. */
const timeoutMs = 240_000;
const text = "x".repeat(1_000);
const body = JSON.stringify({ input: null, config: null, rights: { tools: "*", roots: [] }, budget: null });

/** A goal with many events, which has ended. */
async function makeLongGoal(folder: string) {
  const store = openStore(folder);
  const task = store.addTask({ ...taskRow, kind: "manager", body });
  const run = store.addRun({ task, attempt: 1, run: 1, body: null });
  store.addEvent({ run, at: 1, type: "task.created", body: null });
  const line = { run, at: 1, input: 0, tokens: 0, money: 0, state: null, mail: null, kind: "noted" } as const;
  for (let count = 0; count < messages; count += 1) {
    const message = { ...userMessage(text), id: `msg_${count}`, created_at: 1 };
    store.addLog({ ...line, key: `said${count}`, type: "message.added", body: JSON.stringify({ message }) });
  }
  store.addResult({ task, status: "completed", at: 2, body: JSON.stringify({ content: "" }) });
  store.addEvent({ run, at: 2, type: "task.completed", body: null });
  await store.committed();
  const name = taskName(store.salt, task);
  store.close();
  return name;
}

test("exports, goals and pages that a viewer reads at once keep nobody else waiting until they are over", async (t) => {
  const daemon = new DaemonProcess();
  t.after(() => daemon.close());
  const task = await makeLongGoal(daemon.state);
  await daemon.up();
  const { key } = await daemon.client().addKey({ name: "looks", role: "viewer" });

  for (const path of [`/v1/tasks/${task}/export`, `/v1/goals/${goalOfTask(task)}`, `/v1/events?limit=1000`]) {
    let over = 0;
    const read = Array.from({ length: readers }, async () => {
      const { status } = await send(daemon.url, { path, bearer: key, timeoutMs });
      over += 1;
      return status;
    });
    const overAtAnswers: number[] = [];
    while (over < readers) {
      assert.equal((await send(daemon.url, { path: "/healthz", timeoutMs })).status, 200);
      overAtAnswers.push(over);
    }
    const during = overAtAnswers.filter((count) => count < readers / 2).length;
    assert.ok(during >= 3, `${path}: health checks were answered when ${overAtAnswers.join(", ")} reads were over`);
    for (const status of await Promise.all(read)) assert.ok(status === 200 || status === 404);
  }
});
