import assert from "node:assert/strict";
import { test } from "node:test";

import { requestBeginning } from "./request-beginning.ts";

const message = (text: string) => ({ role: "user", parts: [{ part_type: "text", data: text }] });
const target = (agent: string, text: string) => ({
  agent: { type: "named", agent_id: agent },
  message: message(text),
});

test("of an invocation, the agents are named once and the first line of the first message is kept", () => {
  const targets = [target("a", "\n  Look here.\nThen there."), target("b", "x"), target("a", "y")];
  assert.deepEqual(requestBeginning(JSON.stringify({ input: { invocation: { targets } } })), {
    agents: ["a", "b"],
    targets: 3,
    prompt: "Look here.",
  });
});

test("of a goal, the first line of its words is kept", () => {
  const record = { input: { goal: { text: "\n The total is 4.\nAnd more.", accept: [] }, roots: ["/r"] } };
  assert.deepEqual(requestBeginning(JSON.stringify(record)), { agents: [], targets: 0, prompt: "The total is 4." });
});

test("a record is bounded whatever it holds, and one of another runner is no error", () => {
  const targets = Array.from({ length: 500 }, (_, index) =>
    target(`${index}-${"n".repeat(10_000)}`, "p".repeat(99_999)),
  );
  const found = requestBeginning(JSON.stringify({ input: { invocation: { targets } } }));
  assert.ok(JSON.stringify(found).length < 600);
  assert.deepEqual(requestBeginning('{"input":null}'), { agents: [], targets: 0, prompt: "" });
  assert.equal(requestBeginning(JSON.stringify({ input: { message: message("go") } })).prompt, "go");
});
