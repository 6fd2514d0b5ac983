import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { isJsonValue, jsonCopy } from "./json-copy.ts";

test("a copy is what JSON keeps, whatever the value", () => {
  const value = fc.anything({
    withNullPrototype: true,
    withDate: true,
    withSparseArray: true,
    withBigInt: true,
    withMap: true,
    withBoxedValues: true,
  });
  let copied = 0;
  fc.assert(
    fc.property(fc.oneof(value, fc.jsonValue()), (given) => {
      const copy = jsonCopy(given);
      assert.equal(isJsonValue(given), copy !== undefined);
      if (copy === undefined) return;
      copied += 1;
      const text = JSON.stringify(given);
      assert.deepEqual(copy, JSON.parse(text));
      assert.equal(JSON.stringify(copy), text);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(copied > 500, `only ${copied} of 2000 values were copied`);
});

test("a copy shares no object with the value", () => {
  const value = { list: [{ a: 1 }], of: { b: "two" } };
  const copy = jsonCopy(value);
  value.list[0] = { a: 2 };
  value.of.b = "three";
  assert.deepEqual(copy, { list: [{ a: 1 }], of: { b: "two" } });
});

test("what JSON would drop, change or refuse is left to JSON", () => {
  const itself: Record<string, unknown> = {};
  itself["self"] = itself;
  const withToJson = Object.assign([1], { toJSON: () => "other" });
  // oxlint-disable-next-line no-sparse-arrays -- a hole becomes null in JSON
  const hole = [1, , 2];
  const proto: unknown = JSON.parse('{"__proto__": {"a": 1}}');
  const dropped = [undefined, { a: undefined }, () => 1, Symbol("s"), 1n, NaN, Infinity, -0];
  for (const value of [...dropped, hole, new Date(0), new Map(), withToJson, { toJSON: () => 1 }, itself, proto]) {
    assert.equal(jsonCopy(value), undefined);
    assert.equal(isJsonValue(value), false);
  }
});
