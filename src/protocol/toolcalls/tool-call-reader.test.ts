import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolCallReader, type ToolCallEvent } from "./tool-call-reader.ts";

function read(chunks: readonly string[], tools?: readonly string[]): ToolCallEvent[] {
  const reader = createToolCallReader(tools ? { tools } : {});
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

test("a call is announced when its block opens, named when its name is there, and completed when it closes", () => {
  const reader = createToolCallReader();
  assert.deepEqual(reader.push("Hello.\n```to"), []);
  assert.deepEqual(reader.push('ol\n{"na'), [{ type: "call_started", block: 0 }]);
  assert.deepEqual(reader.push('me": "write", "args": {"text": "a'), [{ type: "call_named", block: 0, name: "write" }]);
  assert.deepEqual(reader.push('\\nb"}}\n``'), []);
  assert.deepEqual(reader.push("`\n"), [{ type: "call_completed", block: 0, name: "write", args: { text: "a\nb" } }]);
  assert.deepEqual(reader.end(), []);
});

test("blocks are counted, and a broken one fails without stopping the next", () => {
  assert.deepEqual(read(['```tool\n{"a"\n```\n```tool\n{"name":"b"}']), [
    { type: "call_started", block: 0 },
    { type: "call_failed", block: 0 },
    { type: "call_started", block: 1 },
    { type: "call_named", block: 1, name: "b" },
    { type: "call_completed", block: 1, name: "b", args: {} },
  ]);
});

test("nothing is said of reasoning, quotations and json data", () => {
  const call = '```tool\n{"name":"rm"}\n```\n';
  assert.deepEqual(read([`<think>\n${call}</think>\n`]), []);
  assert.deepEqual(read([`\`\`\`md\n${call}\`\`\`\n`]), []);
  assert.deepEqual(read(['```json\n{"port":80}\n```\n'], ["ls"]), []);
});

test("a json call is told once it is known to be one", () => {
  assert.deepEqual(read(['```json\n{"name":"ls",', '"args":{}}\n', "```\n"], ["ls"]), [
    { type: "call_started", block: 0 },
    { type: "call_completed", block: 0, name: "ls", args: {} },
  ]);
});

test("a close without an open makes what came before reasoning", () => {
  const names = read(['let me see\n```md\nhm</think>\n```tool\n{"name":"ls"}\n```']).map((event) => event.type);
  assert.deepEqual(names, ["call_started", "call_named", "call_completed"]);
});

test("an opener behind reasoning that began in mid-line is none", () => {
  assert.deepEqual(read(['x <think>\n</think>```tool\n{"name":"ls"}\n```']), []);
});
