import assert from "node:assert/strict";
import { test } from "node:test";

import type { TaskEvent } from "../../protocol/task/event.ts";
import { accountOf } from "./task-account.ts";
import { driftCounts, driftText } from "./drift-text.ts";

const task = "tsk_1_1";
const at = { seq: 1, at: 1, task, root: task };
const drifted = (data: Extract<TaskEvent, { type: "call.drifted" }>["data"]): TaskEvent => ({
  ...at,
  type: "call.drifted",
  data,
});
const alias = { kind: "key_alias", message: "other keys", count: 1 } as const;
const hermes = { kind: "dialect_call", dialect: "hermes", message: "its own form", count: 2 } as const;

test("a departure is said with its kind, its dialect and how often it occurred in the reply", () => {
  assert.equal(driftText(alias), "key_alias: other keys");
  assert.equal(driftText(hermes), "dialect_call (hermes) ×2: its own form");
});

test("the account of a task counts them by kind, and says nothing when there were none", () => {
  const created: TaskEvent = {
    ...at,
    type: "task.created",
    data: { agent: "coder", runner: "local", parent: null, depth: 0, detached: false },
  };
  const events = [created, drifted(alias), drifted(hermes), drifted(alias), drifted(hermes)];
  assert.equal(driftCounts(events), "dialect_call (hermes) ×4, key_alias ×2");
  const options = { width: 80, now: 2, maxLines: 5, command: (words: string) => words };
  assert.match(accountOf(task, events, options), /form of calls.*\n.*dialect_call \(hermes\) ×4, key_alias ×2/);
  assert.doesNotMatch(accountOf(task, [created], options), /form of calls/);
});
