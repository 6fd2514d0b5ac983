import assert from "node:assert/strict";
import { test } from "node:test";

import { TaskInput } from "../delegation/task-input.ts";
import { readTaskInput } from "./read-task-input.ts";

const message = { name: null, role: "user", parts: [{ part_type: "text", data: "go" }], created_at: 5 };
const plain = { agent: { type: "named", agent_id: "a" }, message, tools: ["look"], context: "independent" };

/** Odd ones of every kind: each part that may be absent, is of another type, or is one too many. */
const others: readonly unknown[] = [
  { ...plain, tools: "*" },
  { ...plain, context: "inherited" },
  { ...plain, message: { ...message, name: "ann" } },
  { ...plain, message: { role: "user", parts: [] } },
  { ...plain, message: { name: null, role: "user", parts: [] } },
  { ...plain, message: { name: null, role: "user", parts: [], agent_id: "b" } },
  { ...plain, message: { ...message, id: "m", agent_id: "b" } },
  { ...plain, message: { ...message, odd: 1 } },
  {
    ...plain,
    message: { ...message, parts: [{ part_type: "image", data: { type: "url", url: "u", mime_type: "m" } }] },
  },
  { ...plain, agent: { type: "ad_hoc", system_prompt: "p" } },
  { ...plain, agent: { type: "named", agent_id: "a", instructions_overlay: "more" } },
  { ...plain, agent: { type: "named", agent_id: "a", odd: 1 } },
  { ...plain, thread: true },
  { ...plain, handed: { message, from: "b" } },
  { ...plain, odd: 1 },
];

const wrong: readonly unknown[] = [
  null,
  "text",
  {},
  { ...plain, tools: [1] },
  { ...plain, tools: "look" },
  { ...plain, context: "shared" },
  { ...plain, message: { ...message, role: "nobody" } },
  { ...plain, message: { ...message, created_at: 1.5 } },
  { ...plain, message: { ...message, parts: [{ part_type: "text", data: 1 }] } },
  { ...plain, agent: { type: "named", agent_id: 1 } },
  { ...plain, agent: { type: "other", agent_id: "a" } },
  { ...plain, agent: null },
];

test("the input of a task is read as its schema reads it, plain or not", () => {
  for (const value of [plain, ...others]) {
    assert.deepEqual(readTaskInput(value), TaskInput.parse(value), JSON.stringify(value));
  }
  for (const value of wrong) {
    assert.throws(() => readTaskInput(value), JSON.stringify(value));
  }
  assert.equal(readTaskInput(plain), plain, "the usual one is not copied");
});
