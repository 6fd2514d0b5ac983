// The recorded replies of the fenced tool-call format, in the profile each was recorded for.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseToolCalls } from "../src/protocol/toolcalls/parse-tool-calls.ts";

interface Row {
  readonly id: string;
  readonly class?: string;
  readonly input: string;
  readonly tools?: readonly string[];
  readonly expect: {
    readonly calls: readonly { readonly name: string; readonly args: unknown }[];
    readonly errorCount?: number;
    readonly violations?: number;
    readonly prose?: string;
    readonly errorContains?: readonly string[];
    readonly proseContains?: string;
  };
}

function rows(file: string): Row[] {
  const text = readFileSync(`${import.meta.dirname}/corpus/${file}`, "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line));
}

function check({ input, tools, expect }: Row, profile: "strict" | "tolerant"): void {
  const reply = parseToolCalls(input, { profile, ...(tools === undefined ? {} : { tools }) });
  assert.deepStrictEqual(
    reply.calls.map(({ name, args }) => ({ name, args })),
    expect.calls,
  );
  // deepStrictEqual compares own properties, `__proto__` among them; the texts make that certain.
  assert.deepEqual(
    reply.calls.map(({ args }) => JSON.stringify(args)),
    expect.calls.map(({ args }) => JSON.stringify(args)),
  );
  assert.deepEqual(
    reply.calls.map((call) => call.id),
    expect.calls.map((_, index) => `tc_${index}`),
  );
  if (expect.errorCount !== undefined) assert.equal(reply.errors.length, expect.errorCount);
  if (expect.violations !== undefined) assert.equal(reply.violations.length, expect.violations);
  if (expect.prose !== undefined) assert.equal(reply.prose, expect.prose);
  if (expect.proseContains !== undefined) assert.ok(reply.prose.includes(expect.proseContains));
  for (const part of expect.errorContains ?? []) {
    assert.ok(
      reply.errors.some((error) => error.message.includes(part)),
      `no error says: ${part}`,
    );
  }
}

const strict = rows("toolcalls.jsonl");
const tolerant = rows("toolcalls-tolerant.jsonl");

test("the corpus is whole", () => {
  assert.equal(strict.length, 105);
  assert.equal(tolerant.length, 15);
});

for (const row of strict) {
  test(`strict reads ${row.id} as recorded`, () => check(row, "strict"));
  if (row.class === "reasoning") test(`tolerant reads ${row.id} as recorded`, () => check(row, "tolerant"));
}
for (const row of tolerant) {
  test(`tolerant reads ${row.id} as recorded`, () => check(row, "tolerant"));
  if (row.class === "reasoning") test(`strict reads ${row.id} as recorded`, () => check(row, "strict"));
}
