import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defaultBudget } from "./budget.ts";
import { TuttiError } from "../error.ts";
import { eventTypes } from "./event-types.ts";
import { LiveDelta, TaskEvent } from "./event.ts";
import { Task } from "./task.ts";
import { toFailure } from "../failure.ts";
import { Invocation } from "../invocation/invocation.ts";

const envelope = { seq: 7, at: 1, task: "tsk_b", root: "tsk_a", attempt: 1, run: 2 };
const usage = { input_tokens: 10, output_tokens: 5, money_micro_usd: null };
const message = { id: "m1", name: null, role: "user", parts: [{ part_type: "text", data: "go" }], created_at: 1 };
const task = {
  id: "tsk_b",
  parent: "tsk_a",
  root: "tsk_a",
  goal: null,
  depth: 1,
  agent: "coder",
  executor: { type: "local" },
  tools: ["read"],
  status: "pending",
  attempt: 1,
  run: 1,
  budget: defaultBudget,
  roots: ["/src"],
  deadline: null,
  repeatable: false,
  created_at: 1,
  started_at: null,
  last_event_at: 1,
  ended_at: null,
};
const ask = {
  id: "ask_1",
  task: "tsk_b",
  root: "tsk_a",
  kind: "question",
  question: "Which?",
  answer_schema: null,
  raised_at: 1,
  deadline: 2,
  status: "open",
};
const evidence = {
  id: "evd_1",
  task: "tsk_b",
  attempt: 1,
  source: "tutti",
  commit: "1".repeat(40),
  tree: "2".repeat(40),
  verdict: "contradicts",
  excerpt: "1 failed",
  criteria: ["c1"],
  fact: {
    kind: "check",
    argv: ["npm", "test"],
    cwd: "",
    named_by: "config",
    outcome: "failed",
    exit_code: 1,
    duration_ms: 5,
    output_tail: "1 failed",
    tests: { runner: "node:test", passed: 2, failed: 1, skipped: 0 },
    on_base: "passed",
    changed_check_files: [],
    with_base_files: null,
    reason: "exit status 1",
  },
  observed_at: 2,
};
const criterion = { id: "c1", text: "tests pass", from: "person", confirmed: true, state: "open", evidence: [] };
const planned = {
  id: "api",
  round: 1,
  prompt: "Add the route.",
  workdir: "/src",
  kind: "code_change",
  after: [],
  agent: null,
  runtime: null,
  model: null,
  checks: ["npm test"],
  acceptance: [],
  conf: 0.9,
  risks: [],
  assumptions: [],
  constraints: [],
  supersedes: null,
};
const goal = {
  id: "gol_1",
  task: "tsk_a",
  text: "make it work",
  status: "pending",
  reason: "",
  acceptance: [criterion],
  plan: [planned],
  links: [{ task: "tsk_b", planned: "api", state: "launched", superseded_by: null, evidence: [] }],
  notes: [{ at: 1, text: "two tasks" }],
  rounds: 1,
  policy: null,
  budget: defaultBudget,
  roots: ["/src"],
  created_at: 1,
  updated_at: 1,
};
const failure = toFailure(new TuttiError("io", "the disk is gone", { details: { disk: "a" } }));

const taskData: Record<string, unknown> = {
  "task.created": { agent: "writer", runner: "local", parent: null, depth: 0, detached: false },
  "task.started": {},
  "task.input_required": { ask: "ask_1" },
  "task.resumed": {},
  "task.handed_over": { from_agent: "a", to_agent: "b", reason: "knows more", hop: 1 },
  "task.completed": { content: "done" },
  "task.failed": { error: failure },
  "task.canceled": { reason: "no longer wanted" },
  "run.started": { agent: "coder" },
  "attempt.ended": { outcome: "unknown", reason: "the worker fell silent" },
  "message.added": { message, step: { key: "model:1", tokens: 30, money_micro_usd: null } },
  "step.finished": { key: "model:1", outcome: "ok", tokens: 30, money_micro_usd: 12 },
  "evidence.added": { evidence },
  "check.started": { argv: ["npm", "test"], on: "base", number: 1, of: 2, again: false },
  "model.waiting": { model: "a/b", reason: "rate limit", next: 4, most: 25, until: 9_000 },
  "model.changed": { from: "a/b", to: "c/d", format: "native", reason: "no credit" },
  "session.started": {
    profile: "claude",
    session: "s-1",
    agent: { name: "claude-agent-acp", version: "0.99" },
    model: null,
    mode: "default",
    folder: "/home/ada/project",
    confined: true,
    resumed: false,
  },
  "session.prompted": { prompt: 1 },
  "session.updated": { kind: "plan", update: { entries: [] } },
  "session.stalled": { silent_ms: 120_000 },
  "session.answered": { prompt: 1, reason: "end_turn" },
  "session.ended": { reason: "done" },
  "session.saved": {
    workspace: "wsp_a_1-1",
    mode: "worktree",
    folder: "/w/wsp_a_1-1",
    branch: "tutti/tsk_a_1-1",
    base: "0".repeat(40),
    tip: "1".repeat(40),
    commits: 1,
    files: 2,
    added: 10,
    removed: 3,
    uncommitted: 0,
    warnings: [],
  },
  "call.allowed": { tool: "run", rule: "project: git status", text: "git status" },
  "call.drifted": { kind: "dialect_call", dialect: "hermes", message: "a call came in another form", count: 2 },
  "ask.raised": { ask },
  "ask.answered": { ask: "ask_1", answer: { kind: "question", value: "b" }, by: { kind: "person", name: "ada" } },
  "ask.expired": { ask: "ask_1", meaning: "no_answer" },
  "ask.withdrawn": { ask: "ask_1" },
  "ask.reopened": { ask: "ask_1", reason: "must be a colour" },
  "wait.opened": {
    wait: "ask_2",
    label: "result of the client's tool",
    call: { tool_name: "weather", input: { city: "Oslo" } },
    deadline: 9,
  },
  "wait.settled": { wait: "ask_2", outcome: "answered" },
  "wait.reopened": { wait: "ask_2", reason: "must be a number" },
  "budget.settled": { key: "model:1", spent: usage },
  "budget.reached": { limit: "tokens", allowed: 100, wanted: 120 },
  "budget.raised": { budget: defaultBudget },
  "goal.created": { goal },
  "goal.criteria_added": { criteria: [criterion] },
  "goal.criteria_confirmed": { ids: ["c1"], by: { kind: "person", name: "ada" } },
  "goal.planned": { round: 1, tasks: [planned], dropped: [{ what: "tasks[1]", reason: "prompt is blank" }] },
  "goal.linked": { task: "tsk_b", planned: "api" },
  "goal.link_changed": {
    task: "tsk_b",
    state: "verified",
    superseded_by: null,
    evidence: ["evd_1"],
    reason: "npm test passes",
  },
  "goal.criterion_judged": { id: "c1", state: "met", evidence: ["evd_1"], reason: "npm test passes" },
  "goal.integrated": { branch: "tutti/integration", commit: "c0ffee", tree: null },
  "goal.noted": { text: "two tasks" },
  "goal.changed": { status: "blocked", reason: "asked for work it may not do" },
  "route.decided": {
    handoff: { task_id: "api", scope: "code_change", objective: "Add the route." },
    model: "a/b",
    runner: "local",
    chosen_by: "policy",
    reason: "matched implementation/debugging scope",
    matched_by: "scope",
    words: ["code_change"],
  },
  "handoff.moved": { from: "received", to: "working", decision: "route", reason: "matched", hash: "h" },
};

test("a task keeps its form when written and read", () => {
  assert.deepEqual(Task.parse(JSON.parse(JSON.stringify(task))), task);
});

test("every event keeps its form when written and read", () => {
  for (const [type, data] of Object.entries(taskData)) {
    const event = { ...envelope, type, data };
    assert.deepEqual(TaskEvent.parse(JSON.parse(JSON.stringify(event))), event, type);
  }
});

test("the table above covers every type of event, and each is named noun.past", () => {
  const types = TaskEvent.options.flatMap((option) => [...option.shape.type.values]);
  assert.deepEqual(new Set<string>(types), new Set(Object.keys(taskData)));
  assert.deepEqual(new Set<string>(types), new Set<string>(eventTypes));
  for (const type of types) assert.match(type, /^[a-z]+\.[a-z_]+$/);
});

test("an event is refused without its place in the sequence, of an unknown type, or with unknown data", () => {
  const started = { ...envelope, type: "task.started", data: {} };
  const { seq: _, ...unordered } = started;
  for (const bad of [
    unordered,
    { ...started, seq: 0 },
    { ...started, seq: 1.5 },
    { ...started, type: "task.begun" },
    { ...started, data: { extra: 1 } },
    { ...started, task: "gol_1" },
    { ...started, key: "k" },
  ]) {
    assert.equal(TaskEvent.safeParse(bad).success, false, JSON.stringify(bad));
  }
});

test("a message event carries only a message that has its id and time", () => {
  const { id: _, ...nameless } = message;
  const event = { ...envelope, type: "message.added", data: { message: nameless } };
  assert.equal(TaskEvent.safeParse(event).success, false);
});

test("text on its way is no event and has no sequence", () => {
  const delta = {
    task: "tsk_b",
    root: "tsk_a",
    attempt: 1,
    run: 1,
    key: "model:1",
    channel: "text",
    offset: 0,
    text: "he",
  };
  assert.deepEqual(LiveDelta.parse(delta), delta);
  assert.equal(TaskEvent.safeParse(delta).success, false);
  assert.equal(LiveDelta.safeParse({ ...delta, seq: 1 }).success, false);
});

test("an error becomes data with its verdict and details", () => {
  assert.deepEqual(failure, { code: "io", message: "the disk is gone", retry: "unknown", details: { disk: "a" } });
});

test("every shape can be published as JSON Schema", () => {
  for (const schema of [TaskEvent, LiveDelta, Invocation]) {
    for (const io of ["input", "output"] as const) assert.ok(z.toJSONSchema(schema, { io }).$schema);
  }
});
