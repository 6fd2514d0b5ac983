import assert from "node:assert/strict";
import { test } from "node:test";

import {
  agent,
  answered,
  completed,
  created,
  eventsOf,
  type Happening,
  raised,
  said,
  top,
} from "../../../test/support/task-events.ts";
import { TaskEvent } from "../../protocol/task/event.ts";
import { eventLine } from "./event-line.ts";

/** Without the time, the task and the type. */
const textOf = (happening: Happening): string =>
  eventsOf([happening])
    .map(eventLine)
    .join("")
    .replace(/^\S+ \S+ \S+ */, "");

const result = (status: string, content: unknown = status): object => ({ task_id: agent, status, content });

test("a line has the time, the task and the type in front", () => {
  const [event] = eventsOf([created(agent, top, { prompt: "Count." })]);
  assert.equal(eventLine(event ?? assert.fail()), `00:00:00.100 ${agent} task.created        a (local): Count.`);
});

test("messages are shown with who wrote them, their tool calls and their results", () => {
  const call = { part_type: "tool_call", data: { tool_call_id: "c", tool_name: "read", input: { path: "x" } } };
  const parts = [{ part_type: "text", data: "Let me\nsee." }, call];
  assert.equal(textOf(said(agent, { parts })), 'assistant: Let me see. | read {"path":"x"}');
  const data = { tool_call_id: "c", tool_name: "read", parts: [{ part_type: "data", data: { lines: 3 } }] };
  const told = said(agent, { role: "tool", name: "rehearsal", parts: [{ part_type: "tool_result", data }] });
  assert.equal(textOf(told), 'tool (rehearsal): read → [{"lines":3}]');
});

test("the end of an invocation says how many tasks there were, or the result of the only one", () => {
  const ends = (content: object): string => textOf(completed(top, content));
  assert.equal(ends({ kind: "scalar", result: result("completed", "42") }), "42");
  const error = { code: "io", message: "no disk" };
  assert.equal(ends({ kind: "scalar", result: result("failed", error) }), "no disk");
  assert.equal(ends({ kind: "task_ids", task_ids: ["a"] }), "started 1 task, not waited for");
  const results = [result("completed"), result("failed"), result("canceled")];
  assert.equal(ends({ kind: "vector", results }), "3 results, 2 of them not completed");
});

test("questions are shown with their id, and answers with who gave them", () => {
  assert.equal(textOf(raised), "ask_1 question: Which?");
  assert.equal(textOf(answered), "ask_1 by ada: x");
  const by = { kind: "person", name: "ada" };
  const answer = (value: object): string =>
    textOf({ task: agent, type: "ask.answered", data: { ask: "ask_1", answer: value, by } });
  assert.equal(
    answer({ kind: "approval", approved: false, reason: "too expensive" }),
    "ask_1 by ada: no, too expensive",
  );
  assert.equal(answer({ kind: "budget", go_on: true }), "ask_1 by ada: go on");
});

test("long text is cut, line ends become spaces and control codes are escaped", () => {
  const text = textOf(completed(agent, `a\n\n${"x".repeat(500)}`));
  assert.equal(text, `a ${"x".repeat(158)}…`);
  assert.equal(textOf(completed(agent, "a\u001b[2Jb")), "a\\u001b[2Jb");
});

test("every type of event can be shown", () => {
  const types = TaskEvent.options.flatMap((option) => [...option.shape.type.values]);
  const shown = new Set(eventsOf([raised, answered, completed(top), created(top)]).map(({ type }) => type));
  const bare: Record<string, object> = {
    "task.failed": { error: { code: "io", message: "no disk", retry: "never" } },
    "task.canceled": { reason: "enough" },
    "call.drifted": { kind: "key_alias", message: "other keys", count: 1 },
    "call.allowed": { tool: "run", rule: "apr_1", text: "the command npm test" },
    "model.waiting": { model: "a/b", reason: "rate limit", next: 4, most: 25, until: 9_000 },
    "model.changed": { from: "a/b", to: "c/d", format: "native", reason: "no credit" },
    "task.input_required": { ask: "ask_1" },
    "task.handed_over": { from_agent: "a", to_agent: "b", hop: 1, reason: "knows more" },
    "run.started": { agent: "b" },
    "attempt.ended": { outcome: "failed", reason: "broke" },
    "check.started": { argv: ["npm", "test"], on: "work", number: 1, of: 1, again: false },
    "step.finished": { key: "k", outcome: "ok", tokens: 1, money_micro_usd: 1 },
    "ask.expired": { ask: "ask_1", meaning: "no_answer" },
    "ask.withdrawn": { ask: "ask_1" },
    "session.started": {
      profile: "claude",
      session: "s-1",
      agent: null,
      model: null,
      mode: "default",
      folder: "/p",
      confined: true,
      resumed: false,
    },
    "session.prompted": { prompt: 1 },
    "session.updated": { kind: "plan", update: {} },
    "session.stalled": { silent_ms: 600_000 },
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
    "ask.reopened": { ask: "ask_1", reason: "not a colour" },
    "wait.opened": { wait: "ask_2", label: "weather", deadline: 1 },
    "wait.settled": { wait: "ask_2", outcome: "answered" },
    "wait.reopened": { wait: "ask_2", reason: "not a number" },
    "budget.settled": { key: "k", spent: { input_tokens: 1, output_tokens: 2, money_micro_usd: null } },
    "budget.reached": { limit: "tokens", allowed: 1, wanted: 2 },
    "goal.criteria_added": {
      criteria: [{ id: "c1", text: "it works", from: "model", confirmed: false, state: "open", evidence: [] }],
    },
    "goal.criteria_confirmed": { ids: ["c1"], by: { kind: "person", name: "ada" } },
    "goal.planned": { round: 1, tasks: [], dropped: [] },
    "goal.linked": { task: "tsk_b", planned: "api" },
    "goal.link_changed": { task: "tsk_b", state: "verified", superseded_by: null, evidence: [], reason: "checked" },
    "goal.criterion_judged": { id: "c1", state: "met", evidence: [], reason: "checked" },
    "goal.integrated": { branch: "tutti/integration", commit: "c0ffee", tree: null },
    "goal.noted": { text: "two tasks" },
    "goal.changed": { status: "blocked", reason: "asked" },
    "route.decided": {
      handoff: {},
      model: "a/b",
      runner: "local",
      chosen_by: "policy",
      reason: "matched",
      matched_by: "scope",
      words: [],
    },
    "handoff.moved": { from: "received", to: "working", decision: "route", reason: "matched", hash: "h" },
  };
  for (const type of types) {
    const data = bare[type];
    if (data !== undefined) assert.notEqual(textOf({ task: agent, type, data }), "", type);
    else if (!shown.has(type))
      assert.ok(
        ["task.started", "task.resumed", "message.added", "evidence.added", "goal.created", "budget.raised"].includes(
          type,
        ),
        type,
      );
  }
});
