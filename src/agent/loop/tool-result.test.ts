import assert from "node:assert/strict";
import { test } from "node:test";

import { TuttiError } from "../../protocol/error.ts";
import type { Message } from "../../protocol/task/message.ts";
import { describeBadArguments, failureMessage, toolMessage } from "./tool-result.ts";

const call = { tool_call_id: "c", tool_name: "look", input: {} };
const partsIn = (message: Message | undefined): unknown => {
  const [part] = message?.parts ?? [];
  return part?.part_type === "tool_result" ? part.data.parts : undefined;
};

test("text stays text, everything else is data, and nothing is null", () => {
  assert.deepEqual(partsIn(toolMessage(call, "x")), [{ part_type: "text", data: "x" }]);
  assert.deepEqual(partsIn(toolMessage(call, { a: 1 })), [{ part_type: "data", data: { a: 1 } }]);
  assert.deepEqual(partsIn(toolMessage(call, undefined)), [{ part_type: "data", data: null }]);
});

test("a failure a model can react to becomes the result of its call, with the code of the step's own failure", () => {
  const error = (code: string, message: string) => [{ part_type: "data", data: { error: { code, message } } }];
  assert.deepEqual(partsIn(failureMessage(call, new TuttiError("refused", "no"))), error("refused", "no"));
  const failed = new TuttiError("step_failed", "gone", { details: { code: "not_found" } });
  assert.deepEqual(partsIn(failureMessage(call, failed)), error("not_found", "gone"));
});

test("a cancel, a stop, a fault of the store and anything foreign are not for the model", () => {
  for (const code of ["canceled", "stopped", "internal", "disk_full"] as const) {
    assert.equal(failureMessage(call, new TuttiError(code, "x")), undefined);
  }
  assert.equal(failureMessage(call, new Error("x")), undefined);
});

test("bad arguments are described by path, and text that is not JSON by where it breaks", () => {
  assert.equal(
    describeBadArguments({ a: 1 }, [
      { path: "a", message: "must be text" },
      { path: "", message: "needs b" },
    ]),
    "the arguments do not fit: a: must be text; needs b",
  );
  assert.match(describeBadArguments('{"a": ', []), /not a JSON object: .*JSON.*; they were: "\{\\"a\\": "$/);
  assert.match(describeBadArguments("[1]", []), /they are another kind of value/);
});
