import assert from "node:assert/strict";
import { test } from "node:test";

import type { CompleteMessage, ToolResult } from "../../protocol/task/message.ts";
import { repeatGuard } from "./repeat-guard.ts";

let replies = 0;

function replyOf(...calls: readonly { id: string; tool: string; input: unknown }[]): CompleteMessage {
  replies += 1;
  const parts = calls.map(({ id, tool, input }) => ({
    part_type: "tool_call" as const,
    data: { tool_call_id: id, tool_name: tool, input },
  }));
  return { id: `reply-${replies}`, name: null, role: "assistant", parts, created_at: 0 };
}

function resultOf(id: string, text: string, tool = "look"): ToolResult {
  return { tool_call_id: id, tool_name: tool, parts: [{ part_type: "text", data: text }] };
}

/** Makes the call in a reply of its own and returns the text the model sees. */
function callOnce(guard: ReturnType<typeof repeatGuard>, input: unknown, text: string): string {
  guard.reply(replyOf({ id: "c", tool: "look", input }));
  return guard
    .result(resultOf("c", text))
    .parts.map((part) => String(part.data))
    .join("\n");
}

test("the same call with the same result is warned about, then withheld, then stops the task", () => {
  const guard = repeatGuard(() => false);
  assert.equal(callOnce(guard, { at: 1 }, "same"), "same");
  assert.match(callOnce(guard, { at: 1 }, "same"), /^same\n\[You made this very call before/);
  assert.match(callOnce(guard, { at: 1 }, "same"), /^\[Withheld/);
  assert.equal(guard.stopReason, undefined);
  callOnce(guard, { at: 1 }, "same");
  assert.match(guard.stopReason ?? "", /called look 4 times with the same arguments and the same result/);
});

test("another result or other arguments start the count anew", () => {
  const guard = repeatGuard(() => false);
  for (let count = 0; count < 20; count += 1) assert.equal(callOnce(guard, { at: 1 }, `${count}`), `${count}`);
  for (let count = 0; count < 20; count += 1) assert.equal(callOnce(guard, { at: count }, "x"), "x");
  assert.equal(guard.stopReason, undefined);
});

test("calls beside each other in one reply count once, and tools that may repeat are not counted", () => {
  const guard = repeatGuard((tool) => tool === "sleep");
  const look = { tool: "look", input: {} };
  guard.reply(replyOf({ id: "a", ...look }, { id: "b", ...look }));
  for (const id of ["a", "b"]) assert.deepEqual(guard.result(resultOf(id, "x")), resultOf(id, "x"));
  for (let count = 0; count < 10; count += 1) {
    guard.reply(replyOf({ id: "s", tool: "sleep", input: {} }));
    assert.deepEqual(guard.result(resultOf("s", "x", "sleep")), resultOf("s", "x", "sleep"));
  }
  assert.equal(guard.stopReason, undefined);
});

test("long arguments are told apart, and only the last hundred calls are remembered", () => {
  const guard = repeatGuard(() => false);
  const long = "x".repeat(10_000);
  assert.equal(callOnce(guard, { long }, "same"), "same");
  assert.equal(callOnce(guard, { long: `${long}y` }, "same"), "same");
  for (let count = 0; count < 100; count += 1) callOnce(guard, { count }, "same");
  assert.equal(callOnce(guard, { long }, "same"), "same");
});
