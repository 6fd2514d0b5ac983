import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { readStrictJson } from "./strict-json.ts";

const limits = { maxLength: 10_000, maxDepth: 20, maxValues: 1000 };

function outcomeOf(text: string): string {
  const read = readStrictJson(text, limits);
  if (read.ok) return "ok";
  return read.fault === "duplicate_key" ? `${read.fault} ${read.key}` : read.fault;
}

test("a value is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.deepEqual(readStrictJson(text, limits), { ok: true, value: JSON.parse(text) });
    }),
    { numRuns: 500 },
  );
});

test("the key that comes twice is named, however it is written and wherever it stands", () => {
  const cases: Record<string, string> = {
    '{"a":1,"a":2}': "a",
    '{"a":1,"b":2,"\\u0061":3}': "a",
    '{"":1,"":1}': "",
    '[{"x":{"a":[],"b":{},"a":1}}]': "a",
    '{"a":{"b":1,"c":2},"a":{"b":1}}': "a",
    '{"a":[{"a":1}],"b":"\\"","b":1}': "b",
    '{"a\\\\":1 , "a\\\\":2}': "a\\",
    '{"__proto__":1,"__proto__":1}': "__proto__",
    '{"1":0,"0":0,"1":0}': "1",
  };
  for (const [text, key] of Object.entries(cases)) assert.equal(outcomeOf(text), `duplicate_key ${key}`, text);
});

test("a member repeated anywhere in a random value is always found", () => {
  // Keys without escapes: V8 13.6 may read an escaped quote as a backslash, if that was the key of another object.
  const key = fc.string({ unit: fc.constantFrom("a", "b", ":", "{", ",", "é"), maxLength: 3 });
  const before = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 5 });
  fc.assert(
    fc.property(before, fc.nat(), fc.jsonValue({ maxDepth: 2 }), (members, pick, again) => {
      const keys = Object.keys(members);
      const repeated = keys[pick % keys.length] ?? "";
      const object = `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(repeated)}:${JSON.stringify(again)}}`;
      assert.equal(outcomeOf(`[0,{"inner":${object}}]`), `duplicate_key ${repeated}`, object);
    }),
    { numRuns: 500 },
  );
});

test("each limit has its own fault, and the value at the limit passes", () => {
  assert.equal(outcomeOf(`"${"x".repeat(9998)}"`), "ok");
  assert.equal(outcomeOf(`"${"x".repeat(9999)}"`), "too_large");
  assert.equal(outcomeOf(`${"[".repeat(20)}${"]".repeat(20)}`), "ok");
  assert.equal(outcomeOf(`${"[".repeat(21)}${"]".repeat(21)}`), "too_deep");
  assert.equal(outcomeOf(`[${"1,".repeat(998)}1]`), "ok");
  assert.equal(outcomeOf(`[${"1,".repeat(999)}1]`), "too_many_values");
  assert.equal(outcomeOf("[1e999]"), "number_out_of_range");
  const twoKeys = { maxDepth: 2, maxKeys: 2 };
  assert.equal(readStrictJson('{"a":":","b":1}', twoKeys).ok, true);
  assert.deepEqual(readStrictJson('{"a":1,"b":1,"c":1}', twoKeys), { ok: false, fault: "too_many_values" });
});

test("a text that is not JSON is refused with the parser's reason", () => {
  for (const text of ["", "{", '{"a":1,}', '{"a":1,"a":2', '"', "nul", "1 2", '{"a":1,"a":2}}', "\\"]) {
    const read = readStrictJson(text, limits);
    assert.ok(!read.ok && read.fault === "bad_json" && read.reason !== undefined, text);
  }
});

test("any text is read or refused, never thrown at", () => {
  const crumb = fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "\\", '"a"', "1", "1e999", " ");
  fc.assert(
    fc.property(fc.array(crumb, { maxLength: 30 }), (crumbs) => {
      readStrictJson(crumbs.join(""), limits);
    }),
    { numRuns: 3000 },
  );
});
