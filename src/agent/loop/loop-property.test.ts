// Whatever a model says, the loop ends the task with a result or a clean failure, and runs no call twice.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";
import { z } from "zod";

import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "../tools/tool.ts";
import type { ModelReply } from "../../model-port.ts";
import type { Part } from "../../protocol/task/message.ts";
import { recorded, solo } from "../../../test/support/recording-model.ts";
import { world } from "../../../test/support/agent-kit.ts";

const fragments = [
  "```tool\n",
  "```json\n",
  "~~~tool\n",
  "\n```\n",
  '{"name":"echo","args":{"text":"x"}}',
  '{"name":"mark","args":{}}',
  '{"name":"final","args":{"content":',
  '{"n":1}}}',
  '{"name":"handover","args":{"agent":"b"}}',
  '{"name":"","args":[]}',
  "<think>",
  "</think>",
  "<tool_call>",
  "[TOOL_CALLS]",
  "</tool_call>",
  '"\\u',
  "\\",
  "{",
  "}",
  "words ",
  "\n",
  "\0",
  "\ud800",
  "__proto__",
];
const block = fc
  .constantFrom("echo", "mark", "final")
  .map((tool) => `\n\`\`\`tool\n{"name":"${tool}","args":{"text":"x","content":1}}\n\`\`\`\n`);
const text = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...fragments) }, { weight: 1, arbitrary: block }), {
    maxLength: 10,
  })
  .map((parts) => parts.join(""));
const name = fc.oneof(
  fc.constantFrom(
    "echo",
    "mark",
    "final",
    "handover",
    "invoke_agent",
    "read",
    "read_result",
    "get_task",
    "toString",
    "__proto__",
    "",
  ),
  fc.string({ maxLength: 8 }),
);
const input = fc.oneof(
  fc.constant({ text: "x" }),
  fc.constant({}),
  fc.constant({ content: { n: 1 } }),
  fc.constant({ path: "../../etc/passwd" }),
  fc.json().map((json): unknown => JSON.parse(json)),
  text,
);
const part: fc.Arbitrary<Part> = fc.oneof(
  text.map((data): Part => ({ part_type: "text", data })),
  fc.tuple(name, input, fc.constantFrom("", "c1", "c2")).map(([tool_name, value, tool_call_id]): Part => ({
    part_type: "tool_call",
    data: { tool_call_id, tool_name, input: value },
  })),
);
const reply: fc.Arbitrary<ModelReply> = fc
  .tuple(
    fc.array(part, { maxLength: 4 }),
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom("stop" as const, "tools" as const) },
      { weight: 2, arbitrary: fc.constant("length" as const) },
      { weight: 1, arbitrary: fc.constant("refusal" as const) },
    ),
    fc.integer({ min: 0, max: 7 }).map((chance) => chance === 0),
  )
  .map(([parts, finish, malformed]) => ({
    message: { name: null, role: "assistant", parts },
    usage: { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 },
    finish,
    ...(malformed ? { malformed: [{ tool_name: "echo", text: "{", message: "not JSON" }] } : {}),
  }));

test("nothing a model says makes the loop throw anything but a clean failure of the task", async (t) => {
  let replies: readonly ModelReply[] = [];
  let calls = 0;
  const keys: string[] = [];
  const mark = stepTool({
    name: "mark",
    description: "",
    input: z.looseObject({}),
    repeatable: false,
    run: (_, { step }) => keys.push(step.key),
  });
  const model = recorded({
    call: async () => {
      const next = replies[calls % replies.length];
      calls += 1;
      if (next === undefined) throw new Error("no reply");
      return next;
    },
  });
  const w = await world(t, { environment: { tools: [...builtinTools, mark] }, model: model.model });
  const ends = { completed: 0, failed: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(reply, { minLength: 1, maxLength: 5 }),
      fc.constantFrom("native", "fenced"),
      fc.boolean(),
      async (said, format, strict) => {
        replies = said;
        calls = 0;
        const output_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
        const tools = ["echo", "mark", "read", "read_result"];
        const result = await w.scalar(solo([], { format, tools, max_turns: 7, ...(strict ? { output_schema } : {}) }));
        if (result.status === "completed") ends.completed += 1;
        else {
          ends.failed += 1;
          assert.equal((result.content as { code: string }).code, "task_failed", JSON.stringify(result.content));
        }
      },
    ),
    { numRuns: 200, seed: 4 },
  );
  assert.equal(new Set(keys).size, keys.length, "no call ran twice");
  assert.ok(ends.completed > 20 && ends.failed > 20 && keys.length > 20, JSON.stringify({ ...ends, ran: keys.length }));
});
