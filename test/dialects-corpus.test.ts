// The recorded replies in the dialects of models: every call is read, and text that only mentions a dialect calls nothing.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseToolCalls, type ToolCallOptions } from "../src/protocol/toolcalls/parse-tool-calls.ts";
import { createToolCallReader, type ToolCallEvent } from "../src/protocol/toolcalls/tool-call-reader.ts";
import { trimSpace } from "../src/protocol/white-space.ts";
import type { JsonObject } from "../src/protocol/toolcalls/tool-call.ts";

interface Row {
  readonly id: string;
  readonly input: string;
  readonly cut?: boolean;
  readonly expect: {
    readonly calls: readonly { readonly name: string; readonly args: unknown }[];
    readonly prose: string;
    readonly reasoning?: string;
    readonly errors?: readonly string[];
    readonly ignored?: readonly unknown[];
  };
}

const folder = `${import.meta.dirname}/corpus/dialects`;
const schemas = new Map<string, JsonObject>(Object.entries(JSON.parse(readFileSync(`${folder}/tools.json`, "utf8"))));
const options: ToolCallOptions = { tools: new Set(schemas.keys()), schemas };

function rows(file: string): Row[] {
  return readFileSync(`${folder}/${file}`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line));
}

/** Reasoning between tags is shown while it streams in, though it is no prose. */
const hasReasoning = (text: string): boolean => /<\/?think/.test(text);

/** What is shown of a reply that comes in pieces, which must be a beginning of its prose at any time. */
function streamed(input: string, size: number, prose: string): { shown: string; called: string[] } {
  const reader = createToolCallReader(options.tools === undefined ? {} : { tools: options.tools });
  let shown = "";
  const called: string[] = [];
  const take = (events: readonly ToolCallEvent[]): void => {
    for (const event of events) {
      if (event.type === "text") shown += event.text;
      if (event.type === "call_completed") called.push(event.name);
      assert.ok(prose.startsWith(trimSpace(shown)), `${shown} is not in ${prose}`);
    }
  };
  for (let at = 0; at < input.length; at += size) take(reader.push(input.slice(at, at + size)));
  take(reader.end());
  return { shown, called };
}

const files = readdirSync(folder).filter((file) => file.endsWith(".jsonl"));
const dialects = files.filter((file) => file !== "orphan-close.jsonl").map((file) => file.replace(/\.jsonl$/, ""));

/** What every dialect has an example of. */
const classes = [
  "single",
  "parallel",
  "text-before",
  "reasoning-before",
  "nested",
  "unicode",
  "multi-line",
  "empty-arguments",
  "numbers-and-booleans",
  "cut",
];

test("the corpus has ten classes of replies in each of thirteen dialects, and their sources", () => {
  assert.equal(dialects.length, 13);
  const sources = readFileSync(`${folder}/README.md`, "utf8");
  for (const dialect of dialects) {
    const ids = rows(`${dialect}.jsonl`).map((row) => row.id);
    for (const each of classes) assert.ok(ids.includes(`${dialect}-${each}`), `${dialect} has no ${each}`);
    assert.ok(sources.includes(`| \`${dialect}\``), `the source of ${dialect} is not named`);
  }
});

for (const dialect of dialects) {
  describe(`the ${dialect} dialect`, () => {
    for (const row of rows(`${dialect}.jsonl`)) {
      test(`tolerant reads ${row.id} as recorded`, () => {
        const { expect, cut = false } = row;
        const reply = parseToolCalls(row.input, { ...options, cut });
        assert.deepEqual(
          reply.errors.map((error) => error.code),
          expect.errors ?? [],
          JSON.stringify(reply.errors),
        );
        assert.deepStrictEqual(
          reply.calls.map(({ name, args }) => ({ name, args })),
          expect.calls,
        );
        assert.equal(reply.prose, expect.prose);
        assert.equal(reply.reasoning, expect.reasoning ?? "");
        assert.deepEqual(reply.ignored, expect.ignored ?? []);
        const kinds = new Set(reply.violations.map((violation) => violation.kind));
        if (reply.calls.length > 0 && !kinds.has("bare_call")) {
          assert.ok(reply.violations.some((violation) => violation.kind === "dialect_call"));
        }
      });
    }

    test("is not shown as text while a reply streams in", () => {
      for (const { id, input, cut = false } of rows(`${dialect}.jsonl`)) {
        if (cut || hasReasoning(input)) continue;
        const { prose, calls } = parseToolCalls(input, options);
        for (const size of [1, 7, input.length]) {
          const { shown, called } = streamed(input, size, prose);
          assert.equal(trimSpace(shown), prose, `${id} in pieces of ${size}`);
          assert.deepEqual(
            called,
            calls.map(({ name }) => name),
            id,
          );
        }
      }
    });

    test("is not read by strict", () => {
      for (const row of rows(`${dialect}.jsonl`)) {
        if (row.input.includes("```tool\n")) continue;
        assert.deepEqual(parseToolCalls(row.input, { ...options, profile: "strict" }).calls, [], row.id);
      }
    });

    test("wherever a reply is cut, no call runs that the whole reply does not hold", () => {
      for (const { id, input, expect } of rows(`${dialect}.jsonl`)) {
        if (expect.errors !== undefined) continue;
        const whole = new Set(expect.calls.map((call) => JSON.stringify(call)));
        for (let to = 0; to < input.length; to += 1) {
          for (const cut of [true, false]) {
            for (const { name, args } of parseToolCalls(input.slice(0, to), { ...options, cut }).calls) {
              assert.ok(whole.has(JSON.stringify({ name, args })), `${id} cut at ${to}: ${JSON.stringify(args)}`);
            }
          }
        }
      }
    });
  });
}

describe("text that only mentions dialects", () => {
  for (const file of readdirSync(`${folder}/prose`)) {
    test(`${file} calls nothing`, () => {
      const text = readFileSync(`${folder}/prose/${file}`, "utf8");
      const { prose } = parseToolCalls(text, options);
      if (!hasReasoning(text)) assert.equal(trimSpace(streamed(text, 5, prose).shown), prose);
      for (const tools of [options, {}]) {
        const reply = parseToolCalls(text, tools);
        if (tools === options || file.startsWith("quoted-")) assert.deepEqual(reply.calls, []);
        if (!file.startsWith("quoted-")) continue;
        // Quoted as it should be, the text is an answer: the model is told nothing.
        assert.deepEqual(reply.errors, []);
        const lost = reply.violations.filter(({ kind }) => kind === "other_dialect" || kind === "unregistered_call");
        assert.deepEqual(lost, []);
      }
    });
  }
});

interface OrphanRow {
  readonly id: string;
  readonly input: string;
  readonly tolerant: {
    readonly calls: readonly string[];
    readonly ignored: readonly string[];
    readonly prose: string;
  };
  readonly strict: readonly string[];
}

describe("a closing tag of reasoning that was never opened", () => {
  const text = readFileSync(`${folder}/orphan-close.jsonl`, "utf8").trimEnd();
  for (const row of text.split("\n").map((line): OrphanRow => JSON.parse(line))) {
    test(`${row.id} is read as recorded`, () => {
      const reply = parseToolCalls(row.input, options);
      assert.deepEqual(
        [reply.calls.map((call) => call.name), reply.ignored.map((call) => call.name), reply.prose, reply.errors],
        [row.tolerant.calls, row.tolerant.ignored, row.tolerant.prose, []],
      );
      const strict = parseToolCalls(row.input, { profile: "strict" });
      assert.deepEqual(
        strict.calls.map((call) => call.name),
        row.strict,
      );
    });
  }
});
