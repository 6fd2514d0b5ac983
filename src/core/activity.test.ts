import assert from "node:assert/strict";
import { test } from "node:test";

import type { TaskEvent } from "../protocol/task/event.ts";
import { completeMessage, type Message } from "../protocol/task/message.ts";
import { activityOf, type Seen, summaryOf } from "./activity.ts";

const minute = 60_000;

let seq = 0;
function event<T extends TaskEvent["type"]>(type: T, data: unknown, at = 0): TaskEvent {
  seq += 1;
  const base = { seq, at, task: "tsk_a_1", root: "tsk_a_1", attempt: 1, run: 1 };
  return { ...base, type, data } as TaskEvent;
}

const message = (role: Message["role"], parts: Message["parts"]): TaskEvent =>
  event("message.added", { message: completeMessage({ role, name: null, parts }, { id: `m${seq}`, now: 0 }) });
const call = (id: string, input: unknown): TaskEvent =>
  message("assistant", [{ part_type: "tool_call", data: { tool_call_id: id, tool_name: "run", input } }]);
const result = (id: string, text: string): TaskEvent =>
  message("tool", [
    {
      part_type: "tool_result",
      data: { tool_call_id: id, tool_name: "run", parts: [{ part_type: "text", data: text }] },
    },
  ]);
const update = (id: string, more: object): TaskEvent =>
  event("session.updated", { kind: "tool_call_update", update: { toolCallId: id, ...more } });

const running = (events: readonly TaskEvent[], now = 0): Seen => ({
  status: "running",
  asks: [],
  events,
  now,
  hasOpenTasks: false,
});

test("a session is queued, working, waiting, stopped or ended by what is recorded of its task", () => {
  const seen = running([message("assistant", [{ part_type: "text", data: "I look." }])]);
  const question = { question: "May coder run this program?\n  npm test", stopped: false };
  const states: [Seen, string, string][] = [
    [{ ...running([]), status: "pending" }, "queued", "nothing yet"],
    [seen, "working", "I look."],
    [{ ...seen, status: "input_required", asks: [question] }, "waiting", "May coder run this program? npm test"],
    [{ ...seen, status: "input_required", asks: [{ question: "Resume it?", stopped: true }] }, "stopped", "Resume it?"],
    [
      { ...seen, status: "failed", events: [event("task.failed", { error: { message: "broke" } })] },
      "ended",
      "failed: broke",
    ],
  ];
  for (const [each, activity, summary] of states)
    assert.deepEqual([activityOf(each), summaryOf(each)], [activity, summary]);
});

test("a session of which nothing is heard for five minutes is stalled, unless it waits for its tasks, and one that answered is idle", () => {
  const said = [event("session.prompted", { prompt: 1 })];
  assert.equal(activityOf(running(said, 4 * minute)), "working");
  assert.equal(activityOf(running(said, 5 * minute)), "stalled");
  assert.equal(activityOf({ ...running(said, 5 * minute), hasOpenTasks: true }), "delegating");
  assert.equal(activityOf({ ...running(said, 4 * minute), hasOpenTasks: true }), "working");
  assert.equal(activityOf(running([event("session.stalled", { silent_ms: 1 })])), "stalled");
  assert.equal(
    activityOf(running([...said, event("session.answered", { prompt: 1, reason: "end_turn" })], 9 * minute)),
    "idle",
  );
});

test("the same call three times with the same result is a loop; another result, input or attempt is not", () => {
  const round = (id: string, input: unknown, text: string): TaskEvent[] => [call(id, input), result(id, text)];
  const same = ["1", "2", "3"].flatMap((id) => round(id, { argv: ["ls"] }, "a"));
  assert.equal(activityOf(running(same)), "looping");
  assert.equal(activityOf(running([...same, call("4", { argv: ["ls"] })])), "looping");
  assert.equal(activityOf(running([...same.slice(0, 4), ...round("3", { argv: ["ls"] }, "b")])), "working");
  assert.equal(activityOf(running([...same.slice(0, 4), ...round("3", { argv: ["pwd"] }, "a")])), "working");
  assert.equal(activityOf(running([...same, event("run.started", { agent: "coder" })])), "working");
  assert.equal(summaryOf(running(same)), 'run {"argv":["ls"]}');
});

test("a coding agent that repeats a tool call is seen too, however its updates are cut into pieces", () => {
  const round = (id: string, output: string): TaskEvent[] => [
    update(id, { title: "npm test", rawInput: { command: "npm test" }, status: "pending" }),
    update(id, { status: "completed", rawOutput: output }),
  ];
  const same = ["1", "2", "3"].flatMap((id) => round(id, "2 failed"));
  assert.equal(activityOf(running(same)), "looping");
  assert.equal(activityOf(running([...same.slice(0, 4), ...round("3", "1 failed")])), "working");
  assert.equal(summaryOf(running(same)), "npm test");
});
