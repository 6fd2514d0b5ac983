import assert from "node:assert/strict";
import { test } from "node:test";
import { parseToolCalls } from "./parse-tool-calls.ts";
import { renderToolCall } from "./render-tool-call.ts";

test("a call is one block on three lines", () => {
  assert.equal(renderToolCall("ls", { path: "a\nb" }), '```tool\n{"name":"ls","args":{"path":"a\\nb"}}\n```');
});

test("large doubles are written so that they are read back, not as integers they are not", () => {
  const args = { n: [2 ** 60, { m: -1.5e20 }, 1e300, null, "x"] };
  assert.deepEqual(parseToolCalls(renderToolCall("a", args)).calls[0]?.args, args);
});
