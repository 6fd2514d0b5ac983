import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { CompleteMessage } from "../../protocol/task/message.ts";
import { isPlainMessage, RecordedMessage } from "./plain-message.ts";

const names = { tool_call_id: fc.string(), tool_name: fc.string() };
const held = fc.oneof(
  fc.record({ part_type: fc.constant("text"), data: fc.oneof({ weight: 9, arbitrary: fc.string() }, fc.jsonValue()) }),
  fc.record({ part_type: fc.constant("data"), data: fc.jsonValue() }, { requiredKeys: ["part_type"] }),
  fc.record({ part_type: fc.constant("image"), data: fc.constant({ type: "url", url: "u", mime_type: "m" }) }),
  fc.record({ data: fc.string(), part_type: fc.constant("text"), extra: fc.nat() }, { requiredKeys: ["data"] }),
);
const part = fc.oneof(
  held,
  fc.record({ part_type: fc.constant("tool_call"), data: fc.record({ ...names, input: fc.jsonValue() }) }),
  fc.record({
    part_type: fc.constant("tool_result"),
    data: fc.record(
      { ...names, parts: fc.array(held, { maxLength: 2 }), parts_metadata: fc.constant({}) },
      { requiredKeys: ["tool_call_id", "parts"] },
    ),
  }),
);
const message = fc.record(
  {
    id: fc.string(),
    name: fc.option(fc.string()),
    role: fc.constantFrom("assistant", "tool", "user", "nobody"),
    parts: fc.array(part, { maxLength: 3 }),
    created_at: fc.oneof({ weight: 9, arbitrary: fc.nat() }, fc.double()),
    agent_id: fc.oneof({ weight: 9, arbitrary: fc.string() }, fc.constant(null)),
    parts_metadata: fc.constant({}),
    extra: fc.nat(),
  },
  { requiredKeys: ["id", "role", "parts"] },
);

function outcome(parse: (value: unknown) => unknown, value: unknown): string {
  try {
    return JSON.stringify(parse(value));
  } catch {
    return "refused";
  }
}

test("a recorded message is read to the letter as its schema reads it, and refused when that refuses it", () => {
  fc.assert(
    fc.property(message, (made) => {
      const value: unknown = JSON.parse(JSON.stringify(made));
      assert.equal(
        outcome((given) => RecordedMessage.parse(given), value),
        outcome((given) => CompleteMessage.parse(given), value),
      );
    }),
    { numRuns: 3000 },
  );
});

test("the messages a loop makes are known at a glance, and the same fields in another order are not", () => {
  const call = { part_type: "tool_call", data: { tool_call_id: "c", tool_name: "look", input: { turn: 1 } } };
  const result = {
    part_type: "tool_result",
    data: { tool_call_id: "c", tool_name: "look", parts: [{ part_type: "data", data: { ok: true } }] },
  };
  const reply = { id: "m", name: null, role: "assistant", parts: [call], created_at: 1, agent_id: "a" };
  assert.equal(isPlainMessage(reply), true);
  assert.equal(isPlainMessage({ id: "t", name: null, role: "tool", parts: [result], created_at: 1 }), true);
  assert.equal(isPlainMessage({ name: null, id: "t", role: "tool", parts: [result], created_at: 1 }), false);
  assert.equal(isPlainMessage({ ...reply, extra: 1 }), false);
});
