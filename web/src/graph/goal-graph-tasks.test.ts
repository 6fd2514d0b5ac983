import assert from "node:assert/strict";
import { test } from "node:test";

import { goalGraphTasks } from "./goal-graph-tasks.ts";

const planned = (id: string, after: string[] = [], supersedes: string | null = null) => ({
  id,
  round: 1,
  prompt: `do ${id}`,
  workdir: "/src",
  kind: null,
  after,
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
const link = (plannedId: string, task: string) => ({
  task,
  planned: plannedId,
  state: "launched" as const,
  superseded_by: null,
  evidence: [],
});
const task = (id: string, parent: string | null) => [id, { id, parent, agent: "reviewer" }] as const;

test("planned tasks stand after what they wait for and what they replace, and reviews after the task they belong to", () => {
  const goal = {
    task: "tsk_1",
    plan: [planned("a"), planned("b", ["a"]), planned("b2", [], "b")],
    links: [link("a", "tsk_2")],
  };
  const tasks = new Map([task("tsk_1", null), task("tsk_2", "tsk_1"), task("tsk_3", "tsk_2"), task("tsk_4", "tsk_1")]);
  const boxes = goalGraphTasks(goal, tasks);
  assert.deepEqual(
    boxes.map(({ id, after, task: carriedOutBy }) => [id, after, carriedOutBy]),
    [
      ["plan:a", [], "tsk_2"],
      ["plan:b", ["plan:a"], undefined],
      ["plan:b2", ["plan:b"], undefined],
      ["tsk_3", ["plan:a"], "tsk_3"],
      ["tsk_4", [], "tsk_4"],
    ],
  );
});
