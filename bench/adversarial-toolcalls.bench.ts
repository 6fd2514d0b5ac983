// How the cost of hostile replies grows with their length: both profiles, the feedback and the stream reader.
import { parseToolCalls } from "../src/protocol/toolcalls/parse-tool-calls.ts";
import { createToolCallReader, type ToolCallEvent } from "../src/protocol/toolcalls/tool-call-reader.ts";
import { toolFeedback } from "../src/protocol/toolcalls/tool-feedback.ts";
import { cpuOf, growthExponent, report, round } from "./measure.ts";

/**
 * Each size is read as often as it takes to read this much, from texts of their own and with all results kept, so that
 * neither caches nor the garbage collector favour the small ones.
 */
const total = 8192 * 1024;
const sizes = [256, 1448, 8192].map((kilobytes) => kilobytes * 1024);

type Maker = (size: number) => string;
const filled =
  (unit: string): Maker =>
  (size) =>
    unit.repeat(Math.ceil(size / unit.length));
const after =
  (head: string, unit: string, tail = ""): Maker =>
  (size) =>
    head + filled(unit)(size) + tail;

/** Every kind of text that a scanner could be made to read twice. */
const kinds: Record<string, Maker> = {
  backticks: filled("`"),
  "backtick lines": filled("```\n"),
  tildes: filled("~~~ "),
  openers: filled("```tool\n"),
  "openers in mid-line": filled("x ```tool "),
  "drifted openers": filled("```tool_code\n{\n"),
  "json openers": filled("```json\n"),
  "json data": filled('```json\n{"a":1}\n```\n'),
  "json calls": filled('```json\n{"name":"a","args":{}}\n```\n'),
  "broken json fences": filled("```json\n// {\n```\n"),
  "foreign fences": filled("```x\n"),
  "foreign fences and closes": filled("```x\n```\n"),
  "long fences": filled("`````x\n```\n"),
  "one long line of fences": after("", "```x</think>"),
  "quoted blocks": after("```md\n", "```tool\n{\n"),
  "small objects": after("```tool\n", "{}"),
  "small calls": after("```tool\n", '{"name":"a"}'),
  "open braces": after("```tool\n", '{"a":'),
  "open brackets": after('```tool\n{"a":', "["),
  "closed brackets": (size) => `\`\`\`tool\n{"a":${"[".repeat(size / 2)}${"]".repeat(size / 2)}}\n\`\`\``,
  quotes: after("```tool\n", '"'),
  "quotes in an object": after("```tool\n{", '"'),
  "an open string": after('```tool\n{"name":"', "a\\n"),
  backslashes: after('```tool\n{"name":"', "\\"),
  digits: after('```tool\n{"name":', "9"),
  "large integers": after('```tool\n{"name":"a","args":{"n":[1', ",9007199254740993", "]}}\n```"),
  surrogates: after('```tool\n{"name":"a","args":{"n":"', "\\ud83d\\ude00", '\\ud83d"}}\n```'),
  "bare objects": filled('{"name":"a","args":{}}'),
  "open bare objects": filled('{"name'),
  "a bare object": after('{"name":"a","args":{"t":"', "x </think> ```tool ", '"}}'),
  wrappers: after("```tool\n", '{"name":"tool","args":'),
  "open tags": filled("<think>"),
  "open tags in mid-line": filled("x <think> "),
  "open tags on lines": filled("<think>\n"),
  "open tags without end": filled("<think "),
  "close tags": filled("</think>"),
  "close tags after a call": after('```tool\n{"name":"a"}\n```\n', "</think>"),
  "tag pairs": filled("<think>x</think>"),
  "nested tags": (size) => "<think>".repeat(size / 15) + "</think>".repeat(size / 15),
  "nested tags of two names": filled("a <think><reasoning></think>"),
  "tags before blocks": filled('x <think>```tool\n{"name":"a","args":{"t":"<think>"}}\n```\n'),
  "blocks in reasoning": after("x <think>\n", '```tool\n{"name":"a"}\n```\n'),
  "open blocks in reasoning": after("x <think>\n", "```tool\n{\n"),
  "other dialects": filled("<tool_call>"),
  "mentioned dialects": filled("<tool_call> is a tag "),
  "quoted dialects on one line": filled("`<tool_call>` "),
  "hermes calls": filled('<tool_call>{"name":"a","arguments":{}}</tool_call>'),
  "hermes calls in text": filled('x <tool_call>{"name":"a","arguments":{}}</tool_call> y '),
  "open hermes calls": filled('<tool_call>{"name":"'),
  "open strings in hermes calls": after('<tool_call>{"name":"', "<tool_call>{}</tool_call>"),
  "qwen calls": filled("<tool_call><function=a><parameter=k>1</parameter></function></tool_call>\n"),
  "open qwen parameters": filled("<tool_call><function=a><parameter=k>"),
  "false ends of qwen parameters": after("<tool_call><function=a><parameter=k>", "</parameter>   "),
  "nested qwen calls in text": (size) => `${"x <function=a><parameter=k>".repeat(size / 27)}</parameter></function> y`,
  "blanks in a parameter name": after("<tool_call><function=a><parameter=k", " "),
  "glm calls": filled("<tool_call>a<arg_key>k</arg_key><arg_value>1</arg_value></tool_call>"),
  "open glm keys": filled("<tool_call>a<arg_key>k"),
  "blanks in a glm key": after("<tool_call>a<arg_key>k", " "),
  "blanks after a tag": filled(`<tool_call>${" ".repeat(500)}`),
  "minimax calls": after("<minimax:tool_call>", '<invoke name="a"><parameter name="k">1</parameter></invoke>'),
  "kimi calls": after(
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>a:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
  ),
  "kimi sections": filled("<|tool_calls_section_begin|>"),
  "open kimi calls": filled("<|tool_call_begin|>a:0"),
  "deepseek calls": filled(
    "<\uff5ctool\u2581call\u2581begin\uff5c>a<\uff5ctool\u2581sep\uff5c>{}<\uff5ctool\u2581call\u2581end\uff5c>",
  ),
  "open deepseek calls": filled("<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>a"),
  "mistral calls": filled('[TOOL_CALLS]a[ARGS]{"k":1}'),
  "mistral tokens": filled("[TOOL_CALLS]"),
  "mistral thoughts": filled("[THINK]"),
  "mistral thoughts in one another": (size) => "[THINK]".repeat(size / 15) + "[/THINK]".repeat(size / 15),
  "python lists": filled("\n[a(k=1)]"),
  "open python lists": filled("\n[a(k='"),
  "python lists in one": after("[", "a(k=1),", "]"),
  "an open python string": after("[a(k='", "x\\n"),
  "open python brackets": after("[a(k=", "["),
  "harmony headers": filled("<|channel|>"),
  "harmony messages": filled("<|channel|>analysis<|message|>x<|end|>"),
  "harmony thoughts in one another": filled("<|channel|>analysis<|message|>"),
  "harmony calls": filled("<|channel|>commentary to=functions.a<|message|>{}<|call|>"),
  "gemma calls": filled('<|tool_call>call:a{k:<|"|>v<|"|>}<tool_call|>'),
  "open gemma calls": filled("<start_function_call>call:a{k:<escape>"),
  "open gemma objects": after("<start_function_call>call:a{", "k:{"),
  "blanks in a gemma key": after("<start_function_call>call:a{k", " "),
  "drafts of calls": filled('<tool_call>{"name":"a","arguments":{}}</tool_call></think>'),
  "backticks before tags": filled("x ` <tool_call>{}"),
  angles: filled("<"),
  blanks: filled(" "),
  "blanks and fences": filled(`${" ".repeat(500)}x\`\`\``),
  "line breaks": filled("\n"),
};

const readers: Record<string, (text: string) => unknown> = {
  tolerant(text) {
    const reply = parseToolCalls(text, { tools: ["a"], cut: true });
    return [reply, toolFeedback(reply)];
  },
  strict: (text) => parseToolCalls(text, { profile: "strict" }),
  stream(text) {
    const reader = createToolCallReader();
    const events: ToolCallEvent[][] = [];
    for (let from = 0; from < text.length; from += 1000) events.push(reader.push(text.slice(from, from + 1000)));
    return [...events, reader.end()];
  },
};

/** Best CPU time of reading all the texts, for one of them. */
function cost(texts: readonly string[], read: (text: string) => unknown): number {
  let best = Infinity;
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    const kept: unknown[] = [];
    const spent = cpuOf(() => {
      for (const text of texts) kept.push(read(text));
    });
    if (kept.length === texts.length) best = Math.min(best, spent);
  }
  return best / texts.length;
}

/**
 * Below this many milliseconds for 8 MiB a reading runs at the speed of memory, and its growth is that of leaving the
 * cache; such kinds are counted apart, and cannot be slow.
 */
const memorySpeed = 5;

interface Growth {
  readonly kind: string;
  readonly exponent: number;
  readonly at8MiB: number;
}

const growths: Growth[] = [];
for (const [reader, read] of Object.entries(readers)) {
  for (const [name, make] of Object.entries(kinds)) {
    const points = sizes.map((size) => {
      const copies = Array.from({ length: Math.round(total / size) }, () => flat(make(size)));
      return { size, cost: cost(copies, read) };
    });
    const growth = { kind: `${reader}: ${name}`, exponent: growthExponent(points), at8MiB: points.at(-1)?.cost ?? 0 };
    growths.push(growth);
    if (process.env["VERBOSE"] !== undefined) {
      console.error(round(growth.exponent), growth.kind, points.map((point) => round(point.cost)).join(" "));
    }
  }
}

const [worst] = growths.filter((growth) => growth.at8MiB >= memorySpeed).toSorted((a, b) => b.exponent - a.exponent);
const [slowest] = growths.toSorted((a, b) => b.at8MiB - a.at8MiB);

/** A string in one piece and on the heap at every size, which neither `repeat` nor a large Buffer gives. */
function flat(text: string): string {
  const parsed: unknown = JSON.parse(JSON.stringify(text));
  return typeof parsed === "string" ? parsed : "";
}

report({
  name: "adversarial-toolcalls",
  ratio: worst?.exponent ?? Infinity,
  target: 1.15,
  figures: {
    worst: worst?.kind,
    worstMsAt8MiB: round(worst?.at8MiB ?? 0),
    slowest: slowest?.kind,
    slowestMsAt8MiB: round(slowest?.at8MiB ?? 0),
    kinds: growths.length,
    kindsAtMemorySpeed: growths.filter((growth) => growth.at8MiB < memorySpeed).length,
  },
});
