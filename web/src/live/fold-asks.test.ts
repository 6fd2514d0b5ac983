import assert from "node:assert/strict";
import { test } from "node:test";

import type { TaskEvent } from "../../../src/client/index.ts";
import { foldAsks } from "./fold-asks.ts";

const at = { at: 1, task: "tsk_a_2", root: "tsk_a_1" };

function raised(seq: number, id: string): TaskEvent {
  const ask = {
    id,
    task: at.task,
    root: at.root,
    kind: "approval" as const,
    question: "May it?",
    answer_schema: null,
    raised_at: seq,
    deadline: 99,
    status: "open" as const,
  };
  return { seq, ...at, type: "ask.raised", data: { ask } };
}

test("an ask is in the list from when it is raised until it is settled, and once", () => {
  const open = foldAsks([], [raised(1, "ask_1"), raised(2, "ask_2"), raised(1, "ask_1")]);
  assert.deepEqual(
    open.map(({ id }) => id),
    ["ask_1", "ask_2"],
  );
  const answered: TaskEvent = {
    seq: 3,
    ...at,
    type: "ask.answered",
    data: { ask: "ask_1", answer: { kind: "approval", approved: false }, by: { kind: "person", name: "ada" } },
  };
  assert.deepEqual(
    foldAsks(open, [answered]).map(({ id }) => id),
    ["ask_2"],
  );
});

test("asks of a task that ended are gone, and other events leave the list as it is", () => {
  const open = foldAsks([], [raised(1, "ask_1")]);
  assert.equal(foldAsks(open, [{ seq: 2, ...at, type: "task.resumed", data: {} }]), open);
  assert.deepEqual(foldAsks(open, [{ seq: 3, ...at, type: "task.canceled", data: { reason: "no" } }]), []);
});
