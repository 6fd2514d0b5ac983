import assert from "node:assert/strict";
import { test } from "node:test";

import type { Board, TaskEvent } from "../../../src/client/index.ts";
import { foldBoard } from "./fold-board.ts";

const task = "tsk_a_1";
const board = (): Board => ({
  goals: [
    {
      goal: "gol_a_1",
      task,
      text: "make it work",
      folder: "/src",
      status: "in_progress",
      reason: "",
      progress: 0,
      tasks: { planned: 2, launched: 1, running: 1, verified: 0, failed: 0 },
      criteria: { total: 1, met: 0, unmet: 0 },
      asks: 0,
      tokens: 100,
      money_micro_usd: 5,
      created_at: 1,
      updated_at: 1,
      ended_at: null,
    },
  ],
  folders: ["/src"],
  next: null,
  seq: 10,
  behind: 0,
});

const of = { at: 7, task, root: task };
const step = (seq: number): TaskEvent => ({
  ...of,
  seq,
  task: "tsk_a_2",
  type: "step.finished",
  data: { key: "k", outcome: "ok", tokens: 10, money_micro_usd: 2 },
});

test("only events after those of the index count, and each counts once", () => {
  const once = foldBoard(board(), [step(9), step(10), step(11), step(12)]);
  const [goal] = foldBoard(once, [step(11), step(12)]).goals;
  assert.deepEqual([goal?.tokens, goal?.money_micro_usd], [120, 9]);
});

test("verified tasks, questions and the end of a goal are seen at once", () => {
  const events: TaskEvent[] = [
    {
      ...of,
      seq: 11,
      type: "goal.link_changed",
      data: { task: "tsk_a_2", state: "verified", superseded_by: null, evidence: [], reason: "passes" },
    },
    {
      ...of,
      seq: 12,
      type: "ask.answered",
      data: { ask: "ask_1", answer: { kind: "budget", go_on: true }, by: { kind: "person", name: "a" } },
    },
    { ...of, seq: 13, type: "goal.changed", data: { status: "failed", reason: "no" } },
    { ...of, seq: 14, type: "goal.changed", data: { status: "in_progress", reason: "again" } },
  ];
  const [goal] = foldBoard(board(), events).goals;
  assert.deepEqual([goal?.progress, goal?.asks, goal?.status, goal?.ended_at], [50, 0, "failed", 7]);
});

test("a task below that fails does not end the goal, and other trees change nothing", () => {
  const before = board();
  const failed: TaskEvent = {
    ...of,
    seq: 11,
    task: "tsk_a_2",
    type: "task.canceled",
    data: { reason: "no" },
  };
  assert.equal(foldBoard(before, [failed]), before);
  assert.equal(foldBoard(board(), [{ ...step(11), root: "tsk_b_1" }]).goals[0]?.tokens, 100);
});
