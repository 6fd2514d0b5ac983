import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "../../../test/support/properties.ts";
import { parseToolCalls } from "./parse-tool-calls.ts";
import { renderToolCall } from "./render-tool-call.ts";
import { createToolCallReader, type ToolCallEvent } from "./tool-call-reader.ts";
import type { JsonObject, ToolCallReply } from "./tool-call.ts";
import { trimSpace } from "../white-space.ts";
import { toolFeedback } from "./tool-feedback.ts";

/** Everything the scanner looks for, and what stands close to it. */
const crumb = fc.constantFrom(
  "```tool",
  "```json",
  "```",
  "````",
  "```tool_code",
  "```tool ls",
  "```Tool",
  "```md",
  "~~~tool",
  "~~~",
  "~~~x",
  "\n",
  "\n",
  "\n",
  "\r\n",
  " ",
  "\u00a0",
  "\u0085",
  "\ufeff",
  "x",
  "I'll",
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  ":",
  ",",
  "1",
  "null",
  "9007199254740993",
  '{"name":"a"}',
  '{"name":"a","args":{"k":1}}',
  '{"tool":"b","arguments":{}}',
  '{"name":"a","path":"x"}',
  '{"port":80}',
  '{"name":"tool","args":{"name":"c","args":{}}}',
  '{"name":"a","args":{"t":"<think>"}}',
  '{"name":"a","args":{"t":"</think>"}}',
  '{"name":"a","args":{"c":"half',
  "<think>",
  "</think>",
  "<think",
  "<reasoning>",
  "</reasoning>",
  "</THINKING >",
  "<think/>",
  "<tool_call>",
  "</tool_call>",
  "<function=a>",
  "<parameter=k>",
  "</parameter>",
  "</function>",
  "<arg_key>k</arg_key><arg_value>",
  "</arg_value>",
  "<tool_calls>",
  "<minimax:tool_call>",
  '<invoke name="a">',
  "</invoke>",
  "<|tool_calls_section_begin|>",
  "<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>",
  "<|tool_call_end|>",
  "<\uff5ctool\u2581calls\u2581begin\uff5c>",
  "<\uff5ctool\u2581call\u2581begin\uff5c>a<\uff5ctool\u2581sep\uff5c>",
  "<\uff5ctool\u2581call\u2581end\uff5c>",
  "<|python_tag|>",
  "<|python_start|>",
  "<|channel|>analysis<|message|>",
  "<|channel|>commentary to=functions.a <|constrain|>json<|message|>",
  "<|channel|>final<|message|>",
  "<|end|>",
  "<|call|>",
  '<|tool_call>call:a{k:<|"|>',
  '<|"|>}<tool_call|>',
  "<start_function_call>call:a{",
  "<end_function_call>",
  "<escape>",
  "[TOOL_CALLS]",
  "[TOOL_CALLS]a[ARGS]",
  "[THINK]",
  "[/THINK]",
  "\n[a(k=1)]",
  "[a(",
  "k='",
  ")]",
  "\n```tool_code\na(k=1)\n```\n",
  "{}",
  "<",
  "\ud83d",
  "\\ud83d",
  '\n```tool\n{"name":"a"}\n```\n',
  '\n```json\n{"name":"j"}\n```\n',
  "\n```md\n",
  "\n<think>\n",
  "\n</think>\n",
);
const soup = fc.array(crumb, { maxLength: 40 }).map((parts) => parts.join(""));
const profile = fc.constantFrom("strict" as const, "tolerant" as const);

const name = fc
  .string({ unit: "binary", minLength: 1, maxLength: 12 })
  .map((text) => `t${text.trim().replaceAll("<|", "")}t`);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  soup.map((mixed) => mixed.toWellFormed()),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
})).value;
const args = fc
  .dictionary(fc.oneof(text, fc.constantFrom("name", "args", "__proto__", "constructor")), json, { maxKeys: 5 })
  .map((object): JsonObject => JSON.parse(JSON.stringify(object)));
const call = fc.record({ name, args });
/** Prose that opens no fence and holds no tag. */
const prose = fc
  .array(fc.constantFrom("Some words.", "a < b", "- item", "", "it's `x`", "{}", "日本語"), { maxLength: 5 })
  .map((lines) => lines.join("\n"));
const wellFormed = fc
  .array(
    fc.oneof(
      prose,
      call.map((each) => renderToolCall(each.name, each.args)),
      prose.map((inner) => `<think>\n${inner}\n</think>`),
      prose.map((inner) => `\`\`\`md\n${inner}\n\`\`\``),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join("\n"));

function streamed(whole: string, cuts: readonly number[], tools?: readonly string[]): ToolCallEvent[] {
  const reader = createToolCallReader(tools === undefined ? {} : { tools });
  const places = [...cuts.map((cut) => cut % (whole.length + 1)), whole.length].toSorted((a, b) => a - b);
  const events: ToolCallEvent[] = [];
  let from = 0;
  for (const to of places) {
    events.push(...reader.push(whole.slice(from, to)));
    from = to;
  }
  return [...events, ...reader.end()];
}

/** The events with pieces that follow one another put together: they do not depend on where the reply was cut. */
function merged(events: readonly ToolCallEvent[]): ToolCallEvent[] {
  const whole: ToolCallEvent[] = [];
  for (const event of events) {
    const last = whole.at(-1);
    if (last?.type === "text" && event.type === "text")
      whole[whole.length - 1] = { ...last, text: last.text + event.text };
    else if (last?.type === "call_arguments" && event.type === "call_arguments" && last.block === event.block) {
      whole[whole.length - 1] = { ...last, text: last.text + event.text };
    } else whole.push(event);
  }
  return whole;
}

describe("for any text", () => {
  test("parsing, feedback and reading a stream neither throw nor lose their shape", () => {
    fc.assert(
      fc.property(soup, profile, fc.boolean(), fc.array(fc.nat(), { maxLength: 6 }), (mixed, which, cut, cuts) => {
        const reply = parseToolCalls(mixed, { profile: which, cut, tools: ["a", "ls"] });
        const lines = mixed.split("\n").length;
        for (const error of reply.errors) assert.ok(error.line >= 1 && error.line <= lines && error.message !== "");
        reply.calls.forEach((each, index) => assert.equal(each.id, `tc_${index}`));
        assert.equal(typeof (toolFeedback(reply) ?? ""), "string");
        assert.deepStrictEqual(merged(streamed(mixed, cuts)), merged(streamed(mixed, [])));
      }),
      { numRuns: 3000 },
    );
  });

  test("the stream reader passes on every character that is in no block, in order", () => {
    fc.assert(
      fc.property(soup, fc.array(fc.nat(), { maxLength: 6 }), (mixed, cuts) => {
        const events = streamed(mixed, cuts);
        const texts = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
        const isWhole = events.every((event) => event.type === "text");
        // Reasoning in a dialect is left out, and so are the tokens around it.
        const hasMarkup = parseToolCalls(mixed).violations.some(({ kind }) => kind.startsWith("dialect_"));
        if (isWhole && !hasMarkup) assert.equal(texts.join(""), mixed);
        let at = 0;
        for (const character of texts.join("")) {
          at = mixed.indexOf(character, at) + 1;
          assert.ok(at > 0);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("nothing of the reply is lost: what is neither prose nor reasoning is in a call or an error", () => {
    fc.assert(
      fc.property(soup, (mixed) => {
        const reply = parseToolCalls(mixed);
        const kept =
          reply.calls.length +
          reply.errors.length +
          reply.violations.length +
          reply.prose.length +
          reply.reasoning.length;
        const blank =
          mixed.replaceAll(/<\/?(?:think|thinking|reasoning)\s*\/?>/gi, "").replaceAll(/[\s\u0085]/g, "") === "";
        assert.ok(blank || kept > 0);
      }),
      { numRuns: 2000 },
    );
  });

  test("reading twice gives the same, and if one call in a dialect is broken none of them runs", () => {
    fc.assert(
      fc.property(soup, fc.boolean(), (mixed, cut) => {
        const first = parseToolCalls(mixed, { tools: ["a"], cut });
        assert.deepStrictEqual(parseToolCalls(mixed, { tools: ["a"], cut }), first);
        const broken = first.errors.some((error) => error.code === "broken_dialect_call");
        // None of the calls of a dialect runs if one is broken, so only calls in fences are left.
        if (broken && !mixed.includes("```") && !mixed.includes("~~~")) assert.deepEqual(first.calls, []);
      }),
      { numRuns: 3000 },
    );
  });

  test("every call of strict appears in tolerant, or something names the difference", () => {
    fc.assert(
      fc.property(soup, (mixed) => {
        const strict = parseToolCalls(mixed, { profile: "strict" });
        const tolerant = parseToolCalls(mixed);
        const said = tolerant.errors.length + tolerant.violations.length > 0;
        const seen = [...tolerant.calls, ...tolerant.ignored];
        for (const { name: wanted, args: with_ } of strict.calls) {
          const same = seen.some((each) => each.name === wanted && isDeepStrictEqual(each.args, with_));
          assert.ok(same || said, `${wanted} is lost without a word`);
        }
      }),
      {
        numRuns: 5000,
        examples: [
          [
            '<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>\n```json\n{"name":"j"}\n```\n<|tool_call_end|></think>',
          ],
          ['<|tool_call>call:a{k:<|"|>\n```json\n{"name":"j"}\n```\n<|"|>}<tool_call|>\n</think>\n'],
          ['<function=a>\n```tool\n{"name":"a"}\n```\n</function></THINKING ></THINKING >'],
          ['[THINK]<|tool_call>call:a{k:<|"|>\n```tool\n{"name":"a"}\n```\n[/THINK]</reasoning>'],
        ],
      },
    );
  });
});

/** A call as five templates write it. The values are plain text in two of them. */
const written: Record<string, (called: string, input: Readonly<Record<string, string | number>>) => string> = {
  hermes: (called, input) => `<tool_call>\n${JSON.stringify({ name: called, arguments: input })}\n</tool_call>`,
  kimi: (called, input) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.${called}:0<|tool_call_argument_begin|>${JSON.stringify(input)}<|tool_call_end|><|tool_calls_section_end|>`,
  mistral: (called, input) => `[TOOL_CALLS]${JSON.stringify([{ name: called, arguments: input }])}`,
  harmony: (called, input) =>
    `<|channel|>commentary to=functions.${called} <|constrain|>json<|message|>${JSON.stringify(input)}<|call|>`,
  "qwen3-coder": (called, input) =>
    `<tool_call>\n<function=${called}>\n${Object.entries(input)
      .map(([key, value]) => `<parameter=${key}>\n${String(value)}\n</parameter>\n`)
      .join("")}</function>\n</tool_call>`,
  glm: (called, input) =>
    `<tool_call>${called}\n${Object.entries(input)
      .map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${String(value)}</arg_value>\n`)
      .join("")}</tool_call>`,
};

describe("for any call in a dialect", () => {
  const plainText = soup
    .map((mixed) => mixed.toWellFormed())
    .filter((mixed) => !/<\/(?:parameter|arg_value|function|tool_call)>|<(?:parameter|arg_key)/.test(mixed));

  test("what a template writes is read back, whatever the arguments hold", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(written)), plainText, fc.integer(), (dialect, value, count) => {
        const input = { text: value, count };
        const schema = { properties: { text: { type: "string" }, count: { type: "integer" } } };
        const reply = parseToolCalls(`Look:\n${written[dialect]?.("save", input) ?? ""}`, {
          tools: ["save"],
          schemas: new Map([["save", schema]]),
        });
        assert.deepEqual(reply.errors, []);
        assert.deepStrictEqual(
          reply.calls.map(({ name: read, args: got }) => [read, got]),
          [["save", input]],
        );
        assert.equal(reply.prose, "Look:");
        assert.ok(reply.violations.some((violation) => violation.dialect === dialect));
      }),
      { numRuns: 1500 },
    );
  });
});

/** Text in which nothing is a call, though much of it looks like the beginning of one. */
const mention = fc.constantFrom(
  "Some words.",
  "`<tool_call>` is a tag",
  "a <b> c < d",
  "<tool_call> is a tag of Hermes. ".repeat(12),
  "[TOOL_CALLS] is a token of Mistral. ".repeat(12),
  "> <|python_tag|>",
  "```xml\n<tool_call>\n```",
  "[a link](there), [save](it)",
  "- [ ] save [x]",
  "{} is empty",
  "<function and <|tool",
);

describe("for any reply with calls in dialects", () => {
  const part = fc.oneof(
    { weight: 3, arbitrary: mention },
    fc
      .tuple(fc.constantFrom(...Object.keys(written)), text, fc.boolean())
      .map(
        ([dialect, value, isInline]) =>
          `${isInline ? "Now: " : ""}${written[dialect]?.("save", { text: value }) ?? ""}`,
      ),
    fc.constantFrom(
      '[save(text="a")]',
      '{"name":"save","args":{"text":"}"}}',
      '[{"name":"save","arguments":{}}]',
      '{"port":80}',
      '<tool_call>{"name":"save","arguments":{"text":"half',
      "<tool_call>save\n</tool_call>",
      '<|tool_call>call:save{text:<|"|>x<|"|>}<tool_call|>',
      "[THINK]hm[/THINK]",
      "<|channel|>final<|message|>",
      renderToolCall("save", { text: "<tool_call>" }),
    ),
  );
  const reply = fc
    .array(fc.tuple(part, fc.constantFrom("\n", "\n\n", " ", "\n  ")), { maxLength: 6 })
    .map((parts) => parts.flat().join(""))
    .filter((whole) => !/<\/?(?:think|thinking|reasoning)/i.test(whole));

  test("what is streamed as text is at any time a beginning of the prose, and in the end all of it", () => {
    fc.assert(
      fc.property(reply, fc.array(fc.nat(), { maxLength: 12 }), (whole, cuts) => {
        const { prose: final } = parseToolCalls(whole, { tools: ["save"] });
        const seen = fc.stringify(whole);
        let shown = "";
        for (const event of streamed(whole, cuts, ["save"])) {
          if (event.type === "text") shown += event.text;
          const visible = shown.replaceAll("\r\n", "\n").replace(/\r$/, "");
          assert.ok(final.startsWith(trimSpace(visible)), `${JSON.stringify(shown)} of ${seen}`);
        }
        assert.equal(trimSpace(shown.replaceAll("\r\n", "\n")), final, seen);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("for any call", () => {
  test("what is rendered is read back, in both profiles", () => {
    fc.assert(
      fc.property(call, profile, prose, (each, which, around) => {
        const reply: ToolCallReply = parseToolCalls(`${around}\n${renderToolCall(each.name, each.args)}\n${around}`, {
          profile: which,
        });
        assert.deepEqual(reply.errors, []);
        assert.deepStrictEqual(
          reply.calls.map(({ name: read, args: got }) => [read, JSON.stringify(got)]),
          [[each.name, JSON.stringify(each.args)]],
        );
      }),
      { numRuns: 1000 },
    );
  });

  test("what the stream reader says is complete is what the whole reply holds, however it is cut", () => {
    fc.assert(
      fc.property(wellFormed, fc.array(fc.nat(), { maxLength: 20 }), (whole, cuts) => {
        const completed = streamed(whole, cuts).flatMap((event) =>
          event.type === "call_completed" ? [[event.name, event.args]] : [],
        );
        assert.deepStrictEqual(
          completed,
          parseToolCalls(whole).calls.map(({ name: read, args: got }) => [read, got]),
        );
      }),
      { numRuns: 1000 },
    );
  });
});
