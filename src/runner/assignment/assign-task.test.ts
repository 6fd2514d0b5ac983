import assert from "node:assert/strict";
import { test } from "node:test";

import { planned } from "../../../test/support/assignment-kit.ts";
import { AssignmentConfig } from "../../protocol/task/assignment.ts";
import { assignmentTask, type TaskToAssign } from "./assign-task.ts";

const goal = { id: "gol_1", text: "Right totals.", acceptance: [], plan: [planned] };
const request: TaskToAssign = {
  goal,
  planned,
  predecessors: [],
  agents: {},
  author: "lab/planner",
  checks: [],
  isLast: false,
};
const finished = (id: string, workdir = planned.workdir) => ({
  planned: { id, workdir },
  task: `tsk_${id}`,
  result: { claim: "done", branch: `tutti/tsk_${id}-1`, commit: id.padEnd(40, "0") },
});

function configOf(more: Partial<TaskToAssign>): AssignmentConfig {
  return AssignmentConfig.parse(assignmentTask({ ...request, ...more }).runner.config);
}

test("a check of the plan is a model's, unless the person named it too; the person's others are no criterion", () => {
  const task = { ...planned, checks: ["npm test", "npm run lint"] };
  const { checks } = configOf({ planned: task, checks: ["npm test", "make"] });
  assert.deepEqual(
    checks.map(({ check, named_by, is_criterion }) => [check, named_by, is_criterion]),
    [
      ["npm test", "person", true],
      ["npm run lint", "model", true],
      ["make", "person", false],
    ],
  );
  const last = configOf({ planned: task, checks: ["make"], isLast: true }).checks.at(-1);
  assert.equal(last?.is_criterion, true, "the last task has to make the person's checks succeed");
});

test("only where the goal has other tasks, work that lacks a judge waits for the goal's end", () => {
  const later = { ...planned, id: "fix-2", supersedes: "fix" };
  const other = { ...planned, id: "docs" };
  const waits = (plan: (typeof planned)[]): boolean => configOf({ goal: { ...goal, plan } }).judged_at_end;
  assert.deepEqual([waits([planned]), waits([planned, later]), waits([planned, later, other])], [false, false, true]);
});

test("a task begins with the files of what it builds on in the same folder", () => {
  assert.deepEqual(configOf({ predecessors: [finished("a")] }).workspace, { base: "a".padEnd(40, "0") });
  const several = configOf({ predecessors: [finished("a"), finished("b"), finished("c", "/elsewhere")] });
  assert.deepEqual(several.workspace, { after: ["tsk_a", "tsk_b"] });
  assert.equal(several.handoff.artifact_refs?.length, 3);
});

test("the agent's definition names the inner runner, and an agent that is not there is the base agent", () => {
  const agents = { coder: { instructions: "Code.", model: "lab/small" } };
  const made = assignmentTask({ ...request, agents, planned: { ...planned, agent: "coder" } });
  assert.equal(made.agent, "coder");
  assert.deepEqual(AssignmentConfig.parse(made.runner.config).inner, { kind: "local", config: { model: "lab/small" } });
  assert.equal(assignmentTask({ ...request, agents, planned: { ...planned, agent: "ghost" } }).agent, "_base");
});
