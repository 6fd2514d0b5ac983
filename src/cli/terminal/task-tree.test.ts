import assert from "node:assert/strict";
import { test } from "node:test";

import type { TaskView } from "../../protocol/task/task-view.ts";
import { drawTree } from "./task-tree.ts";

const view = (id: string, parent: string | null, more: Partial<TaskView> = {}): TaskView => ({
  id,
  parent,
  root: "r",
  depth: 0,
  agent: id,
  runner: "local",
  detached: false,
  status: "running",
  attempt: 1,
  run: 1,
  created_at: 0,
  ended_at: null,
  steps: 0,
  tokens: 0,
  money_micro_usd: 0,
  result: null,
  ...more,
});

test("children stand below their parent, in order, with lines that connect them", () => {
  const tree = [view("r", null), view("a", "r"), view("b", "r"), view("a1", "a"), view("b1", "b")];
  assert.deepEqual(
    drawTree(tree, { now: 5 }).map((line) => line.replace(/ \w+ running 5 ms$/, "")),
    ["▸ r", "├─ ▸ a", "│  └─ ▸ a1", "└─ ▸ b", "   └─ ▸ b1"],
  );
});

test("a line has the status, the agent and only the figures that say something", () => {
  const used = { steps: 1, tokens: 30, money_micro_usd: 20_000, attempt: 2, detached: true };
  const ended = view("r", null, { status: "failed", ended_at: 1_500, ...used });
  const figures = "1.5 s, 1 step, 30 tokens, $0.02, attempt 2, detached";
  assert.deepEqual(drawTree([ended], { now: 9_999 }), [`✗ r r failed ${figures}`]);
  assert.deepEqual(drawTree([view("r", null, { steps: 2 })], { now: 40 }), ["▸ r r running 40 ms, 2 steps"]);
});

test("a tree that is too long ends with the number of tasks that are left out", () => {
  const tree = [view("r", null), ...Array.from({ length: 9 }, (_, index) => view(`t${index}`, "r"))];
  assert.equal(drawTree(tree, { now: 0, maxLines: 10 }).length, 10);
  const lines = drawTree(tree, { now: 0, maxLines: 4 });
  assert.equal(lines.length, 4);
  assert.match(lines[2] ?? "", /t1/);
  assert.equal(lines[3], "… and 7 more");
});

test("names of agents cannot send control codes, and no tasks give no lines", () => {
  assert.match(drawTree([view("r", null, { agent: "a\u001b[2Jb" })], { now: 0 })[0] ?? "", /^▸ a\\u001b\[2Jb r/);
  assert.deepEqual(drawTree([], { now: 0 }), []);
});
