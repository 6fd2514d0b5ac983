import assert from "node:assert/strict";
import { test } from "node:test";

import type { ListedTask } from "../../protocol/api/task-shapes.ts";
import { type Circumstances, outcomeOf } from "./task-outcome.ts";

const root = (more: Partial<ListedTask>, asked: Partial<ListedTask["asked"]> = {}): ListedTask =>
  ({
    status: "completed",
    open: 0,
    operator_requests: 0,
    ...more,
    asked: { agents: ["a"], targets: 1, prompt: "", failed: 0, canceled: 0, ...asked },
  }) as ListedTask;

const said = (task: ListedTask, more: Partial<Circumstances> = {}): string => {
  const { mark, text } = outcomeOf(task, { questions: [], attended: true, paused: false, ...more });
  return `${mark} ${text}`;
};

test("an invocation is as good as its targets: one that completed with failed targets failed", () => {
  assert.equal(said(root({})), "✓ completed");
  assert.equal(said(root({}, { failed: 1 })), "✗ failed");
  assert.equal(said(root({}, { failed: 1, targets: 3 })), "✗ 1 of 3 failed");
  assert.equal(said(root({}, { failed: 1, canceled: 1, targets: 3 })), "✗ 1 of 3 failed, 1 of 3 canceled");
  assert.equal(said(root({ status: "canceled" }, { canceled: 1 })), "– canceled");
});

test("an unfinished task says whom it waits for, and whether anybody works on it", () => {
  const running = root({ status: "running", open: 2 });
  assert.equal(said(running), "▸ running");
  assert.equal(said(running, { attended: false }), "▸ nobody working");
  assert.equal(said(running, { paused: true }), "▸ paused");
  assert.equal(said(root({ status: "running", open: 2, operator_requests: 1 })), "▸ waits for an operator");
  const ask = { id: "ask_1", kind: "question", text: "Which?" } as const;
  assert.equal(said(running, { questions: [ask] }), "? asks you: Which? (ask_1)");
  assert.equal(
    said(running, { questions: [{ ...ask, kind: "budget" }, ask], attended: false }),
    "? waits at a limit: Which? (ask_1 and 1 more), nobody working",
  );
  assert.equal(said(root({ open: 2 }, { failed: 1, targets: 3 })), "✗ 1 of 3 failed, 2 tasks still to be done");
});
