import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { Price } from "../protocol/invocation/model-price.ts";
import { costOf, priceOf, priceTable, pricesAsOf } from "./prices.ts";

const none = { cacheRead: 0, cacheWritten: 0 };

test("a price is a whole number of micro-dollars, rounded up", () => {
  const price = { input: 3_000_000, output: 15_000_000, cached: 300_000, cache_write: 3_750_000 };
  assert.equal(costOf(price, { input: 1_000_000, output: 0, ...none }), 3_000_000);
  assert.equal(costOf(price, { input: 1, output: 1, ...none }), 18);
  assert.equal(costOf({ input: 100_000, output: 0 }, { input: 1, output: 0, ...none }), 1);
  assert.equal(costOf(price, { input: 100, output: 0, cacheRead: 40, cacheWritten: 60 }), 12 + 225);
});

test("what is not known costs null, never zero", () => {
  assert.equal(costOf(null, { input: 0, output: 0, ...none }), null);
  assert.equal(priceOf("here/nobody", [priceTable]), null);
  assert.equal(priceOf("toString", [priceTable]), null);
});

test("cached input without a rate of its own costs as much as any", () => {
  assert.equal(costOf({ input: 1_000_000, output: 0 }, { input: 10, output: 0, cacheRead: 10, cacheWritten: 0 }), 10);
});

test("above its length a call costs the long rates as a whole", () => {
  const price = { input: 1_000_000, output: 1_000_000, long: { above: 100, input: 2_000_000, output: 3_000_000 } };
  assert.equal(costOf(price, { input: 100, output: 1, ...none }), 101);
  assert.equal(costOf(price, { input: 101, output: 1, ...none }), 205);
});

test("a user's table goes first, a date at the end of a name does not matter", () => {
  const mine = { "anthropic/claude-opus-5": { input: 1, output: 2 } };
  assert.deepEqual(priceOf("anthropic/claude-opus-5", [mine, priceTable]), { input: 1, output: 2 });
  assert.deepEqual(priceOf("anthropic/claude-opus-5-20260724", [mine, priceTable]), { input: 1, output: 2 });
  assert.equal(priceOf("openai/gpt-5-2025-08-07", [priceTable]), priceTable["openai/gpt-5"]);
});

test("the table is dated and every price in it is well formed, the cache never dearer to read than the input", () => {
  assert.match(pricesAsOf, /^\d{4}-\d{2}-\d{2}$/);
  for (const [name, price] of Object.entries(priceTable)) {
    assert.deepEqual(Price.parse(price), price, name);
    for (const rates of [price, price.long ?? price]) {
      assert.ok(rates.input > 0 && rates.output > rates.input, name);
      assert.ok((rates.cached ?? 0) < rates.input && (rates.cache_write ?? rates.input) >= rates.input, name);
    }
  }
});

test("more tokens never cost less", () => {
  const count = fc.integer({ min: 0, max: 500_000 });
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(priceTable)), count, count, count, (price, input, output, more) => {
      const less = costOf(price, { input, output, ...none }) ?? 0;
      assert.ok((costOf(price, { input: input + more, output: output + more, ...none }) ?? 0) >= less);
    }),
    { numRuns: 200 },
  );
});
