// The decision protocol against recorded replies: what is decided, whether it was recovered, how much was dropped.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { z } from "zod";

import { Decision } from "../src/protocol/decision/decision.ts";
import { parseDecision } from "../src/protocol/decision/parse-decision.ts";

const Case = z.object({
  id: z.string(),
  input: z.string(),
  expect: Decision,
  recovered: z.boolean().default(false),
  dropped: z.number().optional(),
});
const cases = readFileSync(`${import.meta.dirname}/corpus/decisions.jsonl`, "utf8")
  .trim()
  .split("\n")
  .map((line) => Case.parse(JSON.parse(line)));

describe("decision corpus", () => {
  test("holds all its cases", () => assert.equal(cases.length, 43));
  for (const { id, input, expect, recovered, dropped } of cases) {
    test(id, () => {
      const parsed = parseDecision(input);
      assert.deepEqual([parsed.decision, parsed.recovered], [expect, recovered]);
      if (dropped !== undefined) assert.equal(parsed.dropped.length, dropped);
    });
  }
});
