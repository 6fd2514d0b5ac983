// Holds the readers to the schemas, and both notations to each other.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { encode } from "@toon-format/toon";
import fc from "../../../test/support/properties.ts";
import type { z } from "zod";
import { fieldNames, handoffFields, policyFields, reviewFields, type FieldTable } from "./field-tables.ts";
import { Handoff } from "./handoff.ts";
import { Policy } from "./policy.ts";
import { readHandoff } from "./read-handoff.ts";
import type { Read } from "./read-notes.ts";
import { readPolicy } from "./read-policy.ts";
import { readReview } from "./read-review.ts";
import { Review } from "./review.ts";
import { route } from "./route-handoff.ts";

const words = fc.constantFrom(
  "latest api",
  "code_change",
  "security",
  "data loss",
  "none",
  "billing",
  "Misc",
  "mismatch",
);
const text = fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), words);
const list = fc.array(text, { maxLength: 4 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
const model = fc.constantFrom("gpt-5.4", "gpt-5.4-mini", "gpt-5.3-codex-spark", "acp:codex", "llama3:8b", " x ");
/** Free content without the one thing TOON cannot say: a text that looks like a list. */
const free = fc
  .jsonValue({ maxDepth: 3 })
  .filter(
    (value) => value !== null && !JSON.stringify(value).includes('"[') && !JSON.stringify(value).includes("__proto__"),
  )
  .map((value): unknown => JSON.parse(JSON.stringify(value)));
/** Objects of the usual kind; the generator also makes ones without a prototype, which are equal to no other. */
const usual = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T> => values.map((value) => structuredClone(value));

const handoffs = fc.record(
  {
    task_id: text,
    from_model: model,
    to_model: model,
    objective: text,
    scope: text,
    constraints: list,
    current_state: text,
    artifact_refs: list,
    expected_output: free,
    acceptance_criteria: list,
    risks: list,
    fallback_triggers: list,
    confidence_threshold: number,
    conf: fc.oneof(number, fc.constant(0.9)),
    assumptions_made: list,
    open_questions: list,
    failed_checks: list,
    context: fc.record({ state: text, refs: list }, { requiredKeys: [] }),
    out: fc.record(
      {
        alternatives: free,
        recommended: fc.boolean(),
        cite_sources: fc.boolean(),
        format: text,
        diff_summary: fc.boolean(),
        files: list,
        tests: list,
        risks: free,
        open_questions: free,
      },
      { requiredKeys: [] },
    ),
    criteria: fc.record({ must: list, fail: list, optional: list }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
const { review, words: matching } = policyFields.choice;
const { if_conflict_or_missing: conflict, if_test_failure: failure } = policyFields.section.gate.choice;
const policies = fc.record({
  policy: fc.record({ router: model, info: model, build: model, escalate_to: model, conf_threshold: number }),
  routing: fc.record({
    decision_rules: fc.array(fc.oneof(text, fc.constant("billing -> a => fin")), { maxLength: 3 }),
  }),
  gate: fc.record({
    require_fields: fc.array(fc.constantFrom("task_id", "scope", "conf", "out", "criteria", "x"), { maxLength: 3 }),
    fail_if_conf_less: fc.oneof(number, fc.constant(0.5)),
    if_conflict_or_missing: fc.constantFrom(...conflict),
    if_test_failure: fc.constantFrom(...failure),
  }),
  review: fc.constantFrom(...review),
  words: fc.constantFrom(...matching),
});
const reviews = fc.record(
  {
    from: text,
    to: text,
    review: fc.record({ task: text, conf: number, findings: list, required: list, gate: text }, { requiredKeys: [] }),
  },
  { requiredKeys: ["review"] },
);

const envelopes: {
  name: string;
  schema: z.ZodType;
  read: (input: unknown) => Read<unknown>;
  values: fc.Arbitrary<unknown>;
}[] = [
  { name: "policy", schema: Policy, read: readPolicy, values: usual(policies) },
  { name: "handoff", schema: Handoff, read: readHandoff, values: usual(handoffs) },
  { name: "review", schema: Review, read: readReview, values: usual(reviews) },
];

test("the readers know the fields of the schemas and no others", () => {
  const same = (shape: object, table: FieldTable): void =>
    assert.deepEqual(Object.keys(shape).toSorted(), fieldNames(table).toSorted());
  const { policy, routing, gate } = Policy.shape;
  same(Policy.shape, policyFields);
  same(policy.shape, policyFields.section.policy);
  same(routing.shape, policyFields.section.routing);
  same(gate.shape, policyFields.section.gate);
  const { context, out, criteria } = Handoff.shape;
  same(Handoff.shape, handoffFields);
  same(context.unwrap().shape, handoffFields.section.context);
  same(out.unwrap().shape, handoffFields.section.out);
  same(criteria.unwrap().shape, handoffFields.section.criteria);
  same(Review.shape, reviewFields);
  same(Review.shape.review.shape, reviewFields.section.review);
});

/** Kebab names instead of snake, at every level that has names of ours. */
function inKebab(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key.replaceAll("_", "-"),
      ["expected_output", "alternatives", "risks", "open_questions"].includes(key) ? item : inKebab(item),
    ]),
  );
}

for (const { name, schema, read, values } of envelopes) {
  test(`a ${name} the schema accepts is read back the same: as a value, in JSON, in TOON, in kebab-case`, () => {
    fc.assert(
      fc.property(values, (value) => {
        const accepted = schema.parse(value);
        assert.deepEqual(accepted, value);
        for (const input of [value, JSON.stringify(value), encode(value), inKebab(value)]) {
          // An envelope without fields is no text at all in TOON.
          if (input === "") continue;
          const back = read(input);
          assert.ok(back.ok, back.ok ? "" : `${back.error.message}: ${JSON.stringify(input)}`);
          assert.deepEqual(back.value, value);
        }
      }),
      { numRuns: 150 },
    );
  });

  test(`whatever the reader makes of a damaged ${name}, the schema accepts it unchanged`, () => {
    const damaged = fc
      .tuple(values, fc.jsonValue({ maxDepth: 3 }), fc.nat(), fc.nat(3))
      .map(([value, junk, at, kind]) => {
        const whole = { ...(value as Record<string, unknown>) };
        const keys = Object.keys(whole);
        const key = keys[at % Math.max(keys.length, 1)] ?? "conf";
        if (kind === 0) whole[key] = junk;
        else if (kind === 1) delete whole[key];
        else if (kind === 2) whole[key] = JSON.stringify(whole[key]);
        else whole[`x${key}`] = junk;
        return whole;
      });
    let usable = 0;
    fc.assert(
      fc.property(damaged, (value) => {
        for (const input of [value, JSON.stringify(value), encode(value)]) {
          const back = read(input);
          if (!back.ok) continue;
          usable += 1;
          assert.deepEqual(schema.parse(back.value), back.value);
        }
      }),
      { numRuns: 150 },
    );
    assert.ok(usable > 0);
  });

  test(`no text makes the reader of a ${name} throw`, () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      ":",
      ",",
      "\n",
      "  ",
      "\t",
      "- ",
      "|",
      "\\",
      "```",
      "#",
      "\r",
      "\u{feff}",
      "policy",
      "gate",
      "conf",
      "review",
      "context",
      "task_id",
      "risks[2]",
      "a[1]{b}:",
      "[0]:",
      "0.9",
      "null",
      "true",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(texts, (input) => {
        const back = read(input);
        if (back.ok) assert.deepEqual(schema.parse(back.value), back.value);
        else assert.ok(!back.error.message.includes("\n"));
      }),
      { numRuns: 800 },
    );
  });

  test(`no value makes the reader of a ${name} throw`, () => {
    fc.assert(
      fc.property(
        fc.anything({ withDate: true, withMap: true, withBigInt: true, withNullPrototype: true }),
        (input) => {
          const back = read(input);
          if (back.ok) assert.deepEqual(schema.parse(back.value), back.value);
        },
      ),
      { numRuns: 400 },
    );
  });
}

test("readers and route load no schema library, which would cost more than all they do", () => {
  const loaded = new Set<string>();
  const load = (file: URL): void => {
    if (loaded.has(file.href)) return;
    loaded.add(file.href);
    const source = readFileSync(file, "utf8");
    for (const [, from = ""] of source.matchAll(/^(?:import|export) (?!type )[^;=]*? from "([^"]+)";/gm)) {
      if (from.startsWith(".")) load(new URL(from, file));
      else loaded.add(from);
    }
  };
  for (const entry of ["read-policy", "read-handoff", "read-review", "route-handoff", "default-policy"]) {
    load(new URL(`${entry}.ts`, import.meta.url));
  }
  assert.deepEqual(
    [...loaded].filter((name) => !name.startsWith("file:")),
    ["@toon-format/toon"],
  );
});

test("policy and handoff route alike whether they came as TOON or as JSON", () => {
  fc.assert(
    fc.property(policies, handoffs, (policy, handoff) => {
      fc.pre(Object.keys(handoff).length > 0);
      const routes = [JSON.stringify, encode].map((write) => {
        const [readablePolicy, readableHandoff] = [readPolicy(write(policy)), readHandoff(write(handoff))];
        assert.ok(readablePolicy.ok && readableHandoff.ok);
        return route(readablePolicy.value, readableHandoff.value);
      });
      assert.deepEqual(routes[0], routes[1]);
    }),
    { numRuns: 150 },
  );
});
