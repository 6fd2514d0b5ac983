import assert from "node:assert/strict";
import { test } from "node:test";

import { previewLimit } from "../../core/preview.ts";
import type { CompleteMessage, Part } from "../../protocol/task/message.ts";
import { modelView, sizeOf } from "./model-view.ts";
import { repeatGuard } from "./repeat-guard.ts";

const message = (role: CompleteMessage["role"], ...parts: Part[]): CompleteMessage => ({
  id: "m",
  name: null,
  role,
  parts,
  created_at: 0,
});
const text = (data: string): Part => ({ part_type: "text", data });
const result = (...parts: Part[]): Part => ({
  part_type: "tool_result",
  data: { tool_call_id: "c", tool_name: "look", parts },
});
const view = (each: CompleteMessage): CompleteMessage =>
  modelView(
    each,
    repeatGuard(() => false),
  );

test("messages of people, and replies and results of usual length, are seen as they are", () => {
  for (const each of [
    message("user", text("hi")),
    message("assistant", text("hello")),
    message("tool", result(text("x"))),
  ])
    assert.deepEqual(view(each), each);
});

test("data in a result is seen as its text", () => {
  const seen = view(message("tool", result({ part_type: "data", data: { a: [1] } })));
  assert.deepEqual(seen.parts, [result(text('{"a":[1]}'))]);
});

test("a long result is seen as a preview that says how to read the rest", () => {
  const long = "line\n".repeat(previewLimit);
  const [part] = view(message("tool", result(text(long)))).parts;
  assert.ok(part?.part_type === "tool_result");
  const shown = part.data.parts.map((each) => String(each.data)).join("");
  assert.ok(shown.length <= previewLimit + 1_000 && shown.length > 1_000);
  assert.match(shown, /read_result/);
});

test("a long reply is cut with its length, and the message itself stays whole", () => {
  const whole = message("assistant", text("x".repeat(200_000)));
  const [part] = view(whole).parts;
  assert.match(String(part?.data), /x\n\[cut here: the reply has 200000 characters\]$/);
  assert.equal(sizeOf([whole]), 200_000);
});
