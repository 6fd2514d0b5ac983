import assert from "node:assert/strict";
import { test } from "node:test";
import { Budget, defaultBudget } from "./budget.ts";
import { Evidence } from "./evidence.ts";
import { Goal } from "./goal.ts";
import { AskId, EvidenceId, GoalId, TaskId } from "../ids.ts";

const goal = {
  id: "gol_1",
  task: "tsk_1",
  text: "make it work",
  status: "in_progress",
  reason: "",
  acceptance: [],
  plan: [],
  links: [],
  notes: [],
  rounds: 0,
  policy: null,
  budget: defaultBudget,
  roots: ["/src"],
  created_at: 1,
  updated_at: 1,
};
const observed = {
  id: "evd_1",
  task: "tsk_1",
  attempt: 1,
  source: "tutti",
  commit: null,
  tree: null,
  verdict: "supports",
  criteria: [],
  excerpt: "",
  observed_at: 1,
};

test("a goal keeps its form and refuses what it does not know", () => {
  assert.deepEqual(Goal.parse(goal), goal);
  assert.equal(Goal.safeParse({ ...goal, progress: 50 }).success, false);
  assert.equal(Goal.safeParse({ ...goal, status: "Done" }).success, false);
});

test("the default budget is a budget with a finite limit on everything", () => {
  assert.deepEqual(Budget.parse(defaultBudget), defaultBudget);
  for (const [limit, value] of Object.entries(defaultBudget)) assert.ok(Number.isFinite(value) && value > 0, limit);
});

test("evidence is a fact of a known kind: a check, git, a file, a review, a pull request or a person's word", () => {
  const facts = [
    {
      kind: "check",
      argv: ["npm", "test"],
      cwd: "",
      named_by: "person",
      outcome: "timed_out",
      exit_code: null,
      duration_ms: 5,
      output_tail: "",
      tests: null,
      on_base: null,
      changed_check_files: [],
      with_base_files: null,
      reason: "it took longer than a minute",
    },
    { kind: "git", base: "aaa", head: "bbb", clean: true, changed: ["a.ts"] },
    { kind: "file", path: "a.ts", sha256: "0".repeat(64), size: 1 },
    { kind: "review", reviewer: "tsk_2", gate: "approve", model: "a/b", same_model: false, conf: 0.9, findings: [] },
    { kind: "pr", url: "https://example.org/pull/1", exists: true, state: "OPEN", head: "bbb" },
    { kind: "person", by: "ada", text: "I tried it." },
  ];
  for (const fact of facts) assert.deepEqual(Evidence.parse({ ...observed, fact }), { ...observed, fact });
});

test("what a session says of itself is no kind of evidence (invariant 12)", () => {
  const claim = { kind: "claim", text: "all tests pass" };
  assert.equal(Evidence.safeParse({ ...observed, fact: claim }).success, false);
});

test("a review's gate is one verdict, not the menu", () => {
  const fact = {
    kind: "review",
    reviewer: "tsk_2",
    gate: "approve | revise",
    model: "a/b",
    same_model: false,
    conf: 0.9,
    findings: [],
  };
  assert.equal(Evidence.safeParse({ ...observed, fact }).success, false);
});

test("an id says what it names and is safe in a URL and as a file name", () => {
  for (const [schema, id] of [
    [TaskId, "tsk_01J9.2-a_b"],
    [GoalId, "gol_1"],
    [AskId, "ask_1"],
    [EvidenceId, "evd_1"],
  ] as const) {
    assert.equal(schema.parse(id), id);
  }
  for (const bad of ["tsk_", "gol_1", "tsk_../x", "tsk_a/b", "tsk_a b", "TSK_1", "tsk_a\n", "tsk_" + "a".repeat(200)]) {
    assert.equal(TaskId.safeParse(bad).success, false, bad);
  }
});
