import assert from "node:assert/strict";
import { test } from "node:test";

import type { TaskEvent } from "../../../src/client/index.ts";
import { addOlder, emptyTranscript, foldTranscript } from "./fold-transcript.ts";

const task = "tsk_a_2";
const of = { at: 1, task, root: "tsk_a_1", attempt: 1, run: 1 };

type Parts = Extract<TaskEvent, { type: "message.added" }>["data"]["message"]["parts"];

function said(seq: number, role: "assistant" | "tool", parts: Parts): TaskEvent {
  const message = { id: `m${seq}`, name: null, role, parts, created_at: 1 };
  return { ...of, seq, type: "message.added", data: { message } };
}

const callOf = (tool_call_id: string, seq: number): TaskEvent =>
  said(seq, "assistant", [
    { part_type: "text", data: "I look." },
    { part_type: "tool_call", data: { tool_call_id, tool_name: "run", input: { argv: ["ls"] } } },
  ]);
const resultOf = (tool_call_id: string, seq: number): TaskEvent =>
  said(seq, "tool", [
    {
      part_type: "tool_result",
      data: { tool_call_id, tool_name: "run", parts: [{ part_type: "data", data: { output: "a.txt" } }] },
    },
  ]);
const [call, result] = [callOf("c1", 1), resultOf("c1", 2)];

test("a call gets its result, text stays text, and events told twice change nothing", () => {
  const first = foldTranscript(emptyTranscript(task), [call]);
  assert.equal(first.entries[1]?.kind === "tool" && first.entries[1].result, null);
  const second = foldTranscript(first, [call, result]);
  assert.deepEqual(
    second.entries.map(({ kind }) => kind),
    ["message", "tool"],
  );
  assert.equal(second.entries[1]?.kind === "tool" && second.entries[1].result?.text, "a.txt");
  assert.equal(foldTranscript(second, [call, result]), second);
});

test("a call of the next attempt with the same id is another call", () => {
  const again = { ...call, seq: 3, attempt: 2 };
  const folded = foldTranscript(emptyTranscript(task), [call, again, { ...result, seq: 4, attempt: 2 }]);
  const tools = folded.entries.filter((entry) => entry.kind === "tool");
  assert.deepEqual(
    tools.map((tool) => tool.kind === "tool" && tool.result !== null),
    [false, true],
  );
});

test("events of tasks below are left out, and thoughts are told apart", () => {
  const other: TaskEvent = { ...of, seq: 5, task: "tsk_a_3", type: "task.started", data: {} };
  const thought: TaskEvent = {
    ...of,
    seq: 6,
    type: "session.updated",
    data: { kind: "thought", update: { text: "hm" } },
  };
  const folded = foldTranscript(emptyTranscript(task), [other, thought]);
  assert.deepEqual(
    folded.entries.map(({ kind, seq }) => [kind, seq]),
    [["thought", 6]],
  );
});

test("read from the end in pages of any size, it is the same as read from the beginning", () => {
  const events = Array.from({ length: 40 }, (_, index): TaskEvent => {
    const [attempt, seq] = [index < 25 ? 1 : 2, index + 1];
    if (index === 25) return { ...of, seq, attempt, type: "run.started", data: { agent: "a" } };
    if (index % 10 === 4) return { ...of, seq, attempt, type: "run.started", data: { agent: "b" } };
    // A call has its result seven events later, or never.
    return { ...(index % 14 < 7 ? callOf(`c${index}`, seq) : resultOf(`c${index - 7}`, seq)), attempt };
  });
  const whole = foldTranscript(emptyTranscript(task), events);
  for (const size of [1, 2, 3, 7, 39]) {
    let at = events.length - size;
    let read = { ...foldTranscript(emptyTranscript(task), events.slice(at)), hasOlder: true };
    while (at > 0) {
      const from = Math.max(0, at - size);
      read = addOlder(read, events.slice(from, at), from > 0);
      at = from;
    }
    assert.deepEqual(read.entries, whole.entries, `pages of ${size}`);
    assert.deepEqual(read.events, whole.events);
    assert.equal(read.hasOlder, false);
    const more = [{ ...resultOf("c33", 41), attempt: 2 }];
    assert.deepEqual(foldTranscript(read, more).entries, foldTranscript(structuredClone(whole), more).entries);
  }
});

test("fifty thousand events are folded in a moment, in batches", () => {
  const started = performance.now();
  let transcript = emptyTranscript(task);
  for (let batch = 0; batch < 500; batch += 1) {
    const events = Array.from({ length: 100 }, (_, index) => ({ ...call, seq: batch * 100 + index + 1 }));
    transcript = foldTranscript(transcript, events);
  }
  assert.equal(transcript.entries.length, 100_000);
  assert.ok(performance.now() - started < 5_000);
});
