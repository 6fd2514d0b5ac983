import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolCallReader, type ToolCallEvent } from "./tool-call-reader.ts";

function read(chunks: readonly string[], tools?: readonly string[]): ToolCallEvent[] {
  const reader = createToolCallReader(tools ? { tools } : {});
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

function readCalls(chunks: readonly string[], tools?: readonly string[]): ToolCallEvent[] {
  return read(chunks, tools).filter((event) => event.type !== "text");
}

test("a call is announced when its block opens, then named, then written, and completed when it closes", () => {
  const reader = createToolCallReader();
  assert.deepEqual(reader.push("Hello.\n```to"), [{ type: "text", text: "Hello.\n" }]);
  assert.deepEqual(reader.push('ol\n{"na'), [{ type: "call_started", block: 0 }]);
  assert.deepEqual(reader.push('me": "write", "args": {"text": "a'), [
    { type: "call_named", block: 0, name: "write" },
    { type: "call_arguments", block: 0, text: '{"text": "a' },
  ]);
  assert.deepEqual(reader.push('\\nb"}}\n``'), [{ type: "call_arguments", block: 0, text: '\\nb"}' }]);
  assert.deepEqual(reader.push("`\n"), [{ type: "call_completed", block: 0, name: "write", args: { text: "a\nb" } }]);
  assert.deepEqual(reader.end(), []);
});

test("text is passed on as it comes, and only a line that may become a fence is held back", () => {
  const reader = createToolCallReader();
  assert.deepEqual(reader.push("I look"), [{ type: "text", text: "I look" }]);
  assert.deepEqual(reader.push(" first.\n "), [{ type: "text", text: " first.\n" }]);
  assert.deepEqual(reader.push("`"), []);
  assert.deepEqual(reader.push("x` is a word"), []);
  assert.deepEqual(reader.push(".\n"), [{ type: "text", text: " `x` is a word.\n" }]);
  assert.deepEqual(reader.push("`".repeat(150)), []);
  assert.deepEqual(reader.push("`".repeat(150)), [{ type: "text", text: "`".repeat(300) }]);
  assert.deepEqual(reader.end(), []);
});

test("the whole text is passed on, in order, with the line breaks around the calls", () => {
  const reply = 'One.\n\n```tool\n{"name":"ls"}\n```\n\nTwo.\n```md\n```tool\n```\n```\nThree.';
  for (const size of [1, 2, 3, 7, reply.length]) {
    const chunks = Array.from({ length: Math.ceil(reply.length / size) }, (_, at) =>
      reply.slice(at * size).slice(0, size),
    );
    const texts = read(chunks).flatMap((event) => (event.type === "text" ? [event.text] : []));
    assert.equal(texts.join(""), "One.\n\n\nTwo.\n```md\n```tool\n```\n```\nThree.");
  }
});

test("arguments end where their object ends, whatever braces and quotes their strings hold", () => {
  const args = '{"a":"}\\"{","b":{"c":[{"d":"```"}]}}';
  const chunks = `\`\`\`tool\n{"name":"w","args": ${args} , "id":"7"}\n\`\`\`\n`.split("");
  const written = readCalls(chunks).flatMap((event) => (event.type === "call_arguments" ? [event.text] : []));
  assert.equal(written.join(""), args);
});

test("a call whose keys come in another order, or that is wrapped, is only told when it is complete", () => {
  const late = (body: string, tools?: readonly string[]) =>
    readCalls([`\`\`\`tool\n${body}\n\`\`\`\n`], tools).map((event) => event.type);
  assert.deepEqual(late('{"args":{"a":1},"name":"w"}'), ["call_started", "call_completed"]);
  assert.deepEqual(late('{"id":"1","name":"w","args":{}}'), ["call_started", "call_completed"]);
  assert.deepEqual(late('{"name":"tool","args":{"name":"w","args":{}}}', ["w"]), ["call_started", "call_completed"]);
  assert.deepEqual(late('{"name":"w","id":"1","args":{}}'), ["call_started", "call_named", "call_completed"]);
});

test("a name is told without the template token that leaked into it", () => {
  const [, named] = readCalls(['```tool\n{"name":"ls<|channel|>"}\n```\n']);
  assert.deepEqual(named, { type: "call_named", block: 0, name: "ls" });
});

test("blocks are counted, and a broken one fails with its text, without stopping the next", () => {
  assert.deepEqual(read(['```tool\n{"a"\n```\n```tool\n{"name":"b"}']), [
    { type: "call_started", block: 0 },
    { type: "call_failed", block: 0, text: '```tool\n{"a"\n```\n' },
    { type: "call_started", block: 1 },
    { type: "call_named", block: 1, name: "b" },
    { type: "call_completed", block: 1, name: "b", args: {} },
  ]);
});

test("reasoning, quotations and json data are text", () => {
  const call = '```tool\n{"name":"rm"}\n```\n';
  const replies = [`<think>\n${call}</think>\n`, `\`\`\`md\n${call}\`\`\`\n`, '```json\n{"port":80}\n```\n'];
  for (const reply of replies) assert.deepEqual(read([reply], ["ls"]), [{ type: "text", text: reply }]);
});

test("a json call is told once it is known to be one", () => {
  assert.deepEqual(read(['```json\n{"name":"ls",', '"args":{}}\n', "```\n"], ["ls"]), [
    { type: "call_started", block: 0 },
    { type: "call_completed", block: 0, name: "ls", args: {} },
  ]);
});

test("a close without an open makes what came before reasoning", () => {
  const types = readCalls(['let me see\n```md\nhm</think>\n```tool\n{"name":"ls"}\n```']).map((event) => event.type);
  assert.deepEqual(types, ["call_started", "call_named", "call_completed"]);
});

test("reasoning that ends on the opener's line is text, and the opener is not", () => {
  const [text, started] = read(["<think>hm", "</think>```tool", '\n{"name":"ls"}\n```']);
  assert.deepEqual(text, { type: "text", text: "<think>hm</think>" });
  assert.deepEqual(started, { type: "call_started", block: 0 });
});

test("an opener behind reasoning that began in mid-line is none", () => {
  assert.deepEqual(readCalls(['x <think>\n</think>```tool\n{"name":"ls"}\n```']), []);
});

test("a call in a dialect is held back from the text, and told by its name and arguments where it is JSON", () => {
  const reader = createToolCallReader({ tools: ["ls"] });
  assert.deepEqual(reader.push("I look.\n<tool"), [{ type: "text", text: "I look.\n" }]);
  assert.deepEqual(reader.push('_call>\n{"name": "ls", "arguments": {"p'), [
    { type: "call_started", block: 0 },
    { type: "call_named", block: 0, name: "ls" },
    { type: "call_arguments", block: 0, text: '{"p' },
  ]);
  assert.deepEqual(reader.push('":1}}\n</tool_call>\nThat was it.'), [
    { type: "call_arguments", block: 0, text: '":1}' },
  ]);
  assert.deepEqual(reader.end(), [
    { type: "text", text: "\nThat was it." },
    { type: "call_completed", block: 0, name: "ls", args: { p: 1 } },
  ]);
});

test("a call without any tag is told at the end, and one that is broken fails with its text", () => {
  assert.deepEqual(read(["Now:\n[l", "s(p=1)]"], ["ls"]), [
    { type: "text", text: "Now:\n" },
    { type: "call_started", block: 0 },
    { type: "call_completed", block: 0, name: "ls", args: { p: 1 } },
  ]);
  const half = '<|tool_call>call:ls{p:<|"|>x';
  assert.deepEqual(read([half], ["ls"]), [
    { type: "call_started", block: 0 },
    { type: "call_failed", block: 0, text: half },
  ]);
});

test("a dialect that is only mentioned does not keep the text back for long", () => {
  const reader = createToolCallReader({ tools: ["ls"] });
  const quoted = "The tag `<tool_call>`, as in\n```xml\n<tool_call>\n```\n[ls](there), a <b> c\n";
  const texts = (events: readonly ToolCallEvent[]) => events.map((event) => (event.type === "text" ? event.text : ""));
  assert.equal(texts(reader.push(quoted)).join(""), quoted);
  const mention = `The tag <tool_call> is one of Hermes. ${"More words. ".repeat(30)}`;
  assert.equal(texts(reader.push(mention)).join(""), mention);
  assert.deepEqual(reader.end(), []);
});
