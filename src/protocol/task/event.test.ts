import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defaultBudget } from "./budget.ts";
import { TuttiError } from "../error.ts";
import { LiveDelta, TuttiEvent } from "./event.ts";
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
  verdict: "contradicts",
  criteria: ["c1"],
  fact: { kind: "check", command: "npm test", cwd: "/src", exit_code: 1, duration_ms: 5, output_tail: "1 failed" },
  observed_at: 2,
};
const goal = {
  id: "gol_1",
  text: "make it work",
  status: "pending",
  acceptance: [{ id: "c1", text: "tests pass", state: "open", evidence: [] }],
  links: [{ task: "tsk_b", state: "launched", evidence: [] }],
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
};
const goalData: Record<string, unknown> = {
  "goal.created": { goal },
  "goal.linked": { task: "tsk_b" },
  "goal.noted": { text: "two tasks" },
  "goal.changed": { status: "blocked", reason: "asked for work it may not do" },
};

test("a task keeps its form when written and read", () => {
  assert.deepEqual(Task.parse(JSON.parse(JSON.stringify(task))), task);
});

test("every event keeps its form when written and read", () => {
  for (const [type, data] of Object.entries(taskData)) {
    const event = { ...envelope, type, data };
    assert.deepEqual(TuttiEvent.parse(JSON.parse(JSON.stringify(event))), event, type);
  }
  for (const [type, data] of Object.entries(goalData)) {
    const event = { seq: 8, at: 1, goal: "gol_1", type, data };
    assert.deepEqual(TuttiEvent.parse(JSON.parse(JSON.stringify(event))), event, type);
  }
});

test("the table above covers every type of event, and each is named noun.past", () => {
  const types = TuttiEvent.options.flatMap((union) => union.options.flatMap((option) => [...option.shape.type.values]));
  assert.deepEqual(new Set<string>(types), new Set([...Object.keys(taskData), ...Object.keys(goalData)]));
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
    assert.equal(TuttiEvent.safeParse(bad).success, false, JSON.stringify(bad));
  }
});

test("a message event carries only a message that has its id and time", () => {
  const { id: _, ...nameless } = message;
  const event = { ...envelope, type: "message.added", data: { message: nameless } };
  assert.equal(TuttiEvent.safeParse(event).success, false);
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
  assert.equal(TuttiEvent.safeParse(delta).success, false);
  assert.equal(LiveDelta.safeParse({ ...delta, seq: 1 }).success, false);
});

test("an error becomes data with its verdict and details", () => {
  assert.deepEqual(failure, { code: "io", message: "the disk is gone", retry: "unknown", details: { disk: "a" } });
});

test("every shape can be published as JSON Schema", () => {
  for (const schema of [TuttiEvent, LiveDelta, Invocation]) {
    for (const io of ["input", "output"] as const) assert.ok(z.toJSONSchema(schema, { io }).$schema);
  }
});
