import assert from "node:assert/strict";
import { test } from "node:test";
import { parseToolCalls } from "./parse-tool-calls.ts";
import { toolFeedback } from "./tool-feedback.ts";

const good = '```tool\n{"name":"ls"}\n```\n';
const bad = '```tool\n{"name":"w","args":{"p":"C:\\qux"}}\n```\n';

test("there is nothing to say of a clean reply, nor of a violation that was understood", () => {
  assert.equal(toolFeedback(parseToolCalls(`Hi.\n${good}`)), undefined);
  assert.equal(toolFeedback(parseToolCalls('```tool_code\n{"tool":"ls"}\n```')), undefined);
});

test("every error is told with its line and the text at the fault", () => {
  const text = toolFeedback(parseToolCalls(bad)) ?? "";
  assert.match(text, /Line 2: The call is not valid JSON/);
  assert.ok(text.includes(JSON.stringify('C:\\qux"}}\n```\n').slice(1, -1)));
});

test("which calls of the turn ran is told", () => {
  assert.match(toolFeedback(parseToolCalls(good + bad)) ?? "", /ran all the same, do not repeat them: `ls`\./);
  assert.match(toolFeedback(parseToolCalls(bad)) ?? "", /No call of that reply ran\./);
});

test("calls lost to another dialect or an unknown name are told, with the names there are", () => {
  assert.match(toolFeedback(parseToolCalls("<tool_call>ls</tool_call>")) ?? "", /`<tool_call` did not run/);
  const unknown = parseToolCalls('```json\n{"name":"rm","args":{}}\n```', { tools: ["ls", "cat"] });
  const text = toolFeedback(unknown, { tools: ["ls", "cat"] }) ?? "";
  assert.match(text, /`rm` did not run[^]*The tools are: `ls`, `cat`\./);
});

test("the example is in the format in use and can be read back", () => {
  const fenced = toolFeedback(parseToolCalls(bad)) ?? "";
  const example = fenced.slice(fenced.lastIndexOf("```tool"));
  assert.deepEqual(
    parseToolCalls(example, { profile: "strict" }).calls.map((call) => call.name),
    ["tool_name"],
  );
});

test("nothing of the fenced form is taught where calls go through the provider", () => {
  const text = toolFeedback(parseToolCalls("Now: ```tool\n{}"), { format: "native" }) ?? "";
  assert.match(text, /function-calling interface/);
  assert.ok(!text.replace(/ At: .*/, "").includes("```"));
});

test("a flood of errors is cut short and counted", () => {
  const text = toolFeedback(parseToolCalls(bad.repeat(50))) ?? "";
  assert.match(text, /- and 42 more/);
  assert.equal(text.match(/not valid JSON/g)?.length, 8);
});
