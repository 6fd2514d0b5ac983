// The loop with a model that calls tools through its provider: calls that cannot be run are told and the run goes on.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ModelReply } from "../../model-port.ts";
import { callOf, recorded, replying, saying, solo, textOf } from "../../../test/support/recording-model.ts";
import { world } from "../../../test/support/agent-kit.ts";

const file = solo([]);
const text = (data: string) => ({ part_type: "text" as const, data });
const failureOf = (result: { content: unknown }): string => (result.content as { message: string }).message;

/** Plays the replies, then `done`; returns what the second request showed. */
async function second(t: Parameters<typeof world>[0], ...replies: readonly Partial<ModelReply>[]) {
  const model = recorded(replying(...replies));
  const w = await world(t, { model: model.model });
  const result = await w.scalar(file);
  return { w, result, seen: textOf(model.sent[1]?.messages ?? []), sent: model.sent };
}

test("arguments that are not JSON are told with the place where they break", async (t) => {
  const { result, seen } = await second(t, saying(callOf("echo", '{"text": "x', "c1")));
  assert.equal(result.content, "done");
  assert.match(seen, /the arguments are not a JSON object: .*(?:Unterminated|position)/);
});

const malformed = [{ tool_name: "echo", text: '{"text": "x', message: "the arguments are cut." }];

test("a call the provider could not read is told, and the others of the reply run", async (t) => {
  const { w, result, seen } = await second(t, { ...saying(callOf("echo", { text: "ran" })), malformed });
  assert.equal(result.content, "done");
  assert.ok(w.toolResults(result.task_id).includes("ran"));
  assert.match(seen, /- echo: the arguments are cut\. At: "\{\\"text\\": \\"x"/);
});

test("final beside a call the provider could not read does not end the task", async (t) => {
  const { result, seen } = await second(
    t,
    { ...saying(callOf("final", { content: "early" }, "c2")), malformed },
    saying(callOf("final", { content: "late" })),
  );
  assert.equal(result.content, "late");
  assert.match(seen, /part of this reply could not be read/);
});

test("arguments sent as JSON text are taken; those that break the schema are told by path", async (t) => {
  const { w, result } = await second(
    t,
    saying(callOf("echo", '{"text":"unpacked"}', "c1"), callOf("echo", { text: { no: 1 } }, "c2")),
  );
  const [first, broken] = w.toolResults(result.task_id);
  assert.equal(first, "unpacked");
  assert.match(JSON.stringify(broken), /invalid_input.*text: .*expected string, received object/);
});

test("an unknown tool is told with the list of those there are", async (t) => {
  const { result, seen } = await second(t, saying(callOf("ecco", {})));
  assert.equal(result.content, "done");
  assert.match(seen, /there is no tool ecco; there are: .*echo/);
});

test("a call written into the text is not the answer: it is told, not run, and not shown again", async (t) => {
  for (const written of [
    '```tool\n{"name":"echo","args":{"text":"x"}}\n```',
    '```json\n{"name":"echo","arguments":{"text":"x"}}\n```',
    '{"name":"echo","args":{"text":"x"}}',
    '<tool_call>{"name":"echo","arguments":{"text":"x"}}</tool_call>',
    '[TOOL_CALLS] [{"name":"echo","arguments":{"text":"x"}}]',
  ]) {
    const { w, result, seen } = await second(t, saying(text(written)), saying(callOf("final", { content: "ok" })));
    assert.equal(result.content, "ok", written);
    assert.match(seen, /function-calling interface/, written);
    assert.ok(!seen.includes(written) && !seen.includes("```tool\n"), `the fenced format is not taught: ${seen}`);
    assert.deepEqual(w.toolResults(result.task_id), ["The task ends with this."], written);
  }
});

test("an answer that shows code or JSON of its own is an answer", async (t) => {
  for (const answer of [
    '```json\n{"name":"Ana","args":{}}\n```',
    "Use `a < b`.",
    '{"result": 1}',
    "```python\nprint(1)\n```",
  ]) {
    const { result } = await second(t, saying(text(answer)));
    assert.equal(result.content, answer);
  }
});

test("calls without an id, or with the same one, are told apart", async (t) => {
  const { w, result, sent } = await second(
    t,
    saying(callOf("echo", { text: "1" }, ""), callOf("echo", { text: "2" }, "x"), callOf("echo", { text: "3" }, "x")),
  );
  assert.equal(result.content, "done");
  assert.deepEqual(new Set(w.toolResults(result.task_id)), new Set(["1", "2", "3"]));
  const ids = (sent[1]?.messages ?? []).flatMap(({ parts }) =>
    parts.flatMap((part) => (part.part_type === "tool_result" ? [part.data.tool_call_id] : [])),
  );
  assert.equal(new Set(ids).size, 3);
});

test("the last call of a reply cut at its length does not run, the ones before it do", async (t) => {
  const reply = saying(callOf("echo", { text: "whole" }, "c1"), callOf("echo", { text: "hal" }, "c2"));
  const { w, result, seen } = await second(t, { ...reply, finish: "length" });
  const [first, last] = w.toolResults(result.task_id);
  assert.equal(first, "whole");
  assert.match(JSON.stringify(last), /cut at its length limit/);
  assert.match(seen, /Write less per reply/);
});

test("a model that refuses fails the task and says so", async (t) => {
  const { result } = await second(t, { ...saying(text("I will not.")), finish: "refusal" });
  assert.equal(result.status, "failed");
  assert.match(failureOf(result), /refused to answer: I will not\./);
});
