import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { readQuery } from "./read-query.ts";

test("names and values are read as they were encoded", () => {
  const name = fc
    .string({ minLength: 1, unit: "grapheme" })
    .filter((text) => !/^(?:access_token|api_?key|authorization|bearer|key|secret|token)$/i.test(text));
  fc.assert(
    fc.property(fc.dictionary(name, fc.string({ unit: "grapheme" }), { maxKeys: 8 }), (fields) => {
      const read = readQuery(new URLSearchParams(fields).toString());
      assert.ok(read.ok);
      assert.deepEqual({ ...read.query }, { ...fields });
    }),
    { numRuns: 300 },
  );
});

test("`__proto__` and `constructor` are names like any other", () => {
  const read = readQuery("__proto__=x&constructor=y");
  assert.ok(read.ok);
  assert.deepEqual(Object.keys(read.query), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(read.query), null);
});

test("a repeated name, also in another encoding, a bad encoding and too many fields are refused", () => {
  for (const search of ["a=1&a=2", "a=1&%61=2", "a=%", "%zz=1", "=1", "&", "a=1&", "a=%ff"]) {
    const read = readQuery(search);
    assert.ok(!read.ok, search);
    assert.equal(read.error.cause.code, "usage", search);
  }
  const many = readQuery(Array.from({ length: 65 }, (_, at) => `a${at}=1`).join("&"));
  assert.ok(!many.ok && many.error.cause.code === "too_large");
});

test("a key or token in a query is refused with advice, and the error does not repeat it", () => {
  const secret = `tk_${"s".repeat(43)}`;
  for (const search of [
    `key=${secret}`,
    `x=${secret}`,
    "token=abc",
    "access_token=abc",
    "API_KEY=1",
    "x=ot-1",
    "x=wh-1",
    "x=tt1.a.b",
  ]) {
    const read = readQuery(search);
    assert.ok(!read.ok, search);
    assert.equal(read.error.cause.code, "unauthorized", search);
    assert.match(read.error.cause.message, /Authorization: Bearer/);
    assert.ok(!read.error.cause.message.includes(secret));
  }
  assert.ok(readQuery("ticket=ti-0123").ok);
});
