import assert from "node:assert/strict";
import { test } from "node:test";

import type { GoalView, TaskEvent } from "../../../src/client/index.ts";
import { foldGoalView } from "./fold-goal-view.ts";

const task = "tsk_a_1";
const planned = (id: string, supersedes: string | null = null): GoalView["plan"][number] => ({
  id,
  round: 1,
  prompt: "go",
  workdir: "/src",
  kind: null,
  after: [],
  agent: null,
  runtime: null,
  model: null,
  checks: [],
  acceptance: [],
  conf: null,
  risks: [],
  assumptions: [],
  constraints: [],
  supersedes,
});

const goal: GoalView = {
  id: "gol_a_1",
  task,
  text: "make it work",
  status: "pending",
  reason: "",
  acceptance: [{ id: "c1", text: "works", from: "person", confirmed: true, state: "open", evidence: [] }],
  plan: [],
  links: [],
  notes: [],
  rounds: 0,
  policy: null,
  budget: { tokens: 1, money_micro_usd: 1, tasks: 1, depth: 1, concurrency: 1, time_ms: 1 },
  roots: ["/src"],
  created_at: 1,
  updated_at: 1,
  progress: 0,
  missing: [],
};

const of = { task, root: task, at: 5 };
const events: TaskEvent[] = [
  { seq: 1, ...of, type: "goal.planned", data: { round: 1, tasks: [planned("a"), planned("b")], dropped: [] } },
  { seq: 2, ...of, type: "goal.linked", data: { task: "tsk_a_2", planned: "a" } },
  { seq: 3, ...of, type: "goal.noted", data: { text: "two tasks" } },
  {
    seq: 4,
    ...of,
    type: "goal.link_changed",
    data: { task: "tsk_a_2", state: "verified", superseded_by: null, evidence: ["evd_1"], reason: "passes" },
  },
  { seq: 5, ...of, type: "goal.criterion_judged", data: { id: "c1", state: "met", evidence: ["evd_1"], reason: "ok" } },
];

test("plan, links, criteria and progress follow the events, and telling them twice changes nothing", () => {
  const once = foldGoalView(goal, events);
  assert.deepEqual([once.status, once.progress, once.links.length, once.notes.length], ["in_progress", 50, 1, 1]);
  assert.equal(once.acceptance[0]?.state, "met");
  assert.deepEqual(foldGoalView(once, events), once);
});

test("a task that was replaced does not count, and an ended goal stays ended", () => {
  const replaced: TaskEvent = {
    seq: 6,
    ...of,
    type: "goal.planned",
    data: { round: 2, tasks: [planned("b2", "b")], dropped: [] },
  };
  const done: TaskEvent = { seq: 7, ...of, type: "goal.changed", data: { status: "failed", reason: "no" } };
  const again: TaskEvent = { seq: 8, ...of, type: "goal.changed", data: { status: "in_progress", reason: "?" } };
  const after = foldGoalView(goal, [...events, replaced, done, again]);
  assert.deepEqual([after.progress, after.status, after.rounds], [50, "failed", 2]);
});

test("a goal ends with the task of its manager", () => {
  const canceled: TaskEvent = { seq: 6, ...of, type: "task.canceled", data: { reason: "no longer wanted" } };
  const after = foldGoalView(goal, [...events, canceled]);
  assert.deepEqual([after.status, after.reason], ["abandoned", "no longer wanted"]);
  assert.equal(foldGoalView(goal, [{ ...canceled, task: "tsk_a_2" }]), goal);
});

test("events of another goal change nothing", () => {
  assert.equal(
    foldGoalView(goal, [{ seq: 9, at: 1, task: "tsk_b", root: "tsk_b", type: "goal.noted", data: { text: "x" } }]),
    goal,
  );
});
