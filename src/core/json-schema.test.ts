import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { linearPattern } from "../linear-pattern.ts";
import { compileSchema } from "./json-schema.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const check = (schema: JsonObject, value: unknown): string[] =>
  compileSchema(schema, linearPattern)(value).map(({ path, message }) => `${path}: ${message}`);

test("every keyword lets through what fits and reports the rest with its path", () => {
  const cases: [JsonObject, unknown, unknown][] = [
    [{ type: "string" }, "a", 1],
    [{ type: ["string", "null"] }, null, 1],
    [{ type: "integer" }, 3, 3.5],
    [{ enum: ["a", { b: 1, c: 2 }] }, { c: 2, b: 1 }, "b"],
    [{ const: [1] }, [1], [2]],
    [{ type: "string", minLength: 2, maxLength: 3 }, "ab", "abcd"],
    [{ type: "string", pattern: "^a+$" }, "aa", "ab"],
    [{ type: "string", format: "email" }, "a@b.ch", "a"],
    [{ type: "number", minimum: 1, exclusiveMaximum: 2 }, 1.5, 2],
    [{ type: "number", minimum: 1, exclusiveMinimum: true }, 2, 1],
    [{ type: "number", multipleOf: 0.1 }, 0.3, 0.35],
    [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { a: "x", b: 1 }, {}],
    [{ type: "object", properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
    [{ type: "object", additionalProperties: { type: "number" } }, { a: 1 }, { a: "x" }],
    [
      { type: "object", patternProperties: { "^x": { type: "number" } }, additionalProperties: false },
      { x1: 1 },
      { y: 1 },
    ],
    [{ type: "object", propertyNames: { pattern: "^[a-z]$" } }, { a: 1 }, { A: 1 }],
    [{ type: "object", minProperties: 1, maxProperties: 1 }, { a: 1 }, {}],
    [{ type: "array", items: { type: "number" }, minItems: 1, maxItems: 2 }, [1], [1, "x"]],
    [{ type: "array", prefixItems: [{ type: "number" }], items: false }, [1], [1, 2]],
    [{ type: "array", uniqueItems: true }, [1, { a: 1 }], [{ a: 1 }, { a: 1 }]],
    [{ type: "array", contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, 1, true],
    [{ oneOf: [{ type: "number" }, { const: 1 }] }, 2, 1],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 1, 3],
    [{ not: { type: "string" } }, 1, "a"],
    [{ if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 2 } }, "ab", "a"],
    [{ if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 2 } }, 2, 1],
    [{ if: { type: "string" }, else: { minimum: 2 } }, "a", 1],
    [{ dependentRequired: { a: ["b"] } }, { b: 1 }, { a: 1 }],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1, b: 1 }, { a: 1 }],
    [{ dependencies: { a: ["b"], c: { minProperties: 2 } } }, { a: 1, b: 1 }, { c: 1 }],
    [{ $ref: "#a", $defs: { x: { $anchor: "a", type: "string" } } }, "x", 1],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, "x", 1],
    [{ $ref: "#/definitions/a~1b", definitions: { "a/b": { type: "string" } } }, "x", 1],
  ];
  for (const [schema, good, bad] of cases) {
    assert.deepEqual(check(schema, good), [], JSON.stringify(schema));
    assert.notDeepEqual(check(schema, bad), [], JSON.stringify(schema));
  }
  const nested = { properties: { list: { items: { properties: { n: { type: "integer" } } } } } };
  assert.deepEqual(check(nested, { list: [{ n: 1 }, { n: "x" }] }), ["list[1].n: must be integer, not string"]);
});

test("what our own schemas say as JSON Schema is checked as they check it", () => {
  const own = z.strictObject({ a: z.string().min(1), b: z.array(z.int()).optional(), c: z.enum(["x", "y"]) });
  const schema: JsonObject = { ...z.toJSONSchema(own) };
  for (const value of [{ a: "1", c: "x" }, { a: "", c: "x" }, { a: "1", b: [1.5], c: "y" }, { a: "1", c: "z" }, 1]) {
    assert.equal(check(schema, value).length === 0, own.safeParse(value).success, JSON.stringify(value));
  }
});

test("a schema that refers to itself checks a tree", () => {
  const tree = { type: "object", properties: { below: { type: "array", items: { $ref: "#" } } } };
  assert.deepEqual(check(tree, { below: [{ below: [] }] }), []);
  assert.deepEqual(check(tree, { below: [{ below: [1] }] }), ["below[0].below[0]: must be object, not number"]);
});

test("a schema that cannot be used is refused with what is wrong", () => {
  const bad: [JsonObject, RegExp][] = [
    [{ type: "wibble" }, /no type "wibble"/],
    [{ type: "string", pattern: "(a)\\1" }, /backreferences/],
    [{ patternProperties: { "(?=a)": {} } }, /lookahead/],
    [{ $ref: "https://example.com" }, /only those are supported/],
    [{ $ref: "#/$defs/a" }, /leads nowhere/],
    [{ unevaluatedProperties: false }, /unevaluatedProperties is not supported/],
    [{ $ref: "#nowhere" }, /the reference #nowhere leads nowhere/],
    [{ $ref: "https://example.com/a" }, /does not begin with #/],
    [{ enum: "a" }, /enum must be a list/],
    [{ items: 1 }, /must be an object or a boolean/],
  ];
  for (const [schema, expected] of bad) assert.throws(() => check(schema, 1), expected);
});

test("no schema and no value make a check take long", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `d${at}`,
      { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  );
  let deepSchema: JsonObject = { type: "string" };
  for (let at = 0; at < 1_000; at += 1) deepSchema = { items: deepSchema };
  let deepValue: unknown = 1;
  for (let at = 0; at < 5_000; at += 1) deepValue = [deepValue];
  const manyKeys = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`${"a".repeat(30)}${at}!`, 1]));
  const patterns = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`^(a+)+${at}$`, {}]));
  const emoji = "\u{1F9B0}".repeat(60);
  const hostile: [JsonObject, unknown][] = [
    [{ type: "string", pattern: "^(a+)+$" }, `${"a".repeat(100_000)}!`],
    [{ $ref: "#/$defs/d0", $defs: { ...doubling, d60: { type: "string" } } }, 1],
    [{ $ref: "#" }, 1],
    [{ items: { $ref: "#" }, uniqueItems: true }, deepValue],
    [{ const: 1 }, deepValue],
    [{ patternProperties: patterns, additionalProperties: false }, manyKeys],
    [{ type: "string", format: "emoji" }, `${emoji}x`],
  ];
  const started = performance.now();
  for (const [schema, value] of hostile)
    assert.notDeepEqual(check(schema, value), [], JSON.stringify(schema).slice(0, 60));
  assert.throws(() => check(deepSchema, 1), /too large/);
  assert.ok(performance.now() - started < 20_000, `${performance.now() - started} ms`);
});
