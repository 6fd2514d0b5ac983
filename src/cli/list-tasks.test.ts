import assert from "node:assert/strict";
import { test } from "node:test";

import type { Reader } from "../client/client.ts";
import type { TaskListQuery } from "../protocol/api/task-shapes.ts";
import { allEvents } from "./all-events.ts";
import { listTasks } from "./list-tasks.ts";

/** A reader with this many tasks, or events, that notes what it is asked for. */
function readerOf(many: number): { reader: Reader; asked: object[] } {
  const asked: object[] = [];
  const reader = {
    async tasks(query: TaskListQuery) {
      asked.push(query);
      const from = Number(query.cursor ?? 0);
      const until = Math.min(many, from + Number(query.limit));
      const tasks = Array.from({ length: until - from }, (_, index) => ({ id: from + index }));
      return { tasks, next: until < many ? String(until) : null };
    },
    async events({ after, limit }: { after: number; limit: number }) {
      asked.push({ after, limit });
      return Array.from({ length: Math.min(limit, many - after) }, (_, index) => ({ seq: after + index + 1 }));
    },
  };
  return { reader: reader as unknown as Reader, asked };
}

test("tasks are read in pages of at most 200 until the limit is reached", async () => {
  const { reader, asked } = readerOf(1_000);
  assert.equal((await listTasks(reader, { limit: 450, all: false, status: "failed" })).length, 450);
  assert.deepEqual(asked, [
    { limit: 200, roots: true, status: "failed" },
    { limit: 200, roots: true, status: "failed", cursor: "200" },
    { limit: 50, roots: true, status: "failed", cursor: "400" },
  ]);
});

test("without a limit, tasks are read until the last page", async () => {
  const { reader, asked } = readerOf(401);
  assert.equal((await listTasks(reader, { limit: Infinity, all: true })).length, 401);
  assert.equal(asked.length, 3);
});

test("events are read in pages until one is not full, each beginning after the last event", async () => {
  const { reader, asked } = readerOf(200);
  const events = await Array.fromAsync(allEvents(reader, "tsk_1"));
  assert.deepEqual([events.length, events.at(-1)?.seq], [200, 200]);
  assert.deepEqual(asked, [
    { after: 0, limit: 100 },
    { after: 100, limit: 100 },
    { after: 200, limit: 100 },
  ]);
});
