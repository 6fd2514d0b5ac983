import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { type Account, amountIn, hold, lacking, left, newAccount, raise, settle } from "./account.ts";

test("invariant 7: spent and held never pass the limit, whatever the order of calls", () => {
  const call = fc.record({
    amount: fc.nat(60),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    settles: fc.nat(4),
  });
  fc.assert(
    fc.property(fc.nat(200), fc.array(call, { maxLength: 40 }), (limit, calls) => {
      let account: Account = newAccount(limit);
      const open: { held: number; used: number }[] = [];
      let used = 0;
      for (const each of calls) {
        const fits = lacking(account, each.amount) === 0;
        assert.equal(fits, left(account) >= each.amount);
        if (fits) {
          account = hold(account, each.amount);
          open.push({ held: each.amount, used: Math.floor(each.amount * each.share) });
        }
        for (const done of open.splice(0, each.settles)) {
          account = settle(account, done.held, done.used);
          used += done.used;
        }
        assert.ok(account.spent + account.held <= limit);
        assert.equal(account.spent, used);
        assert.equal(
          account.held,
          open.reduce((sum, { held }) => sum + held, 0),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test("what was used beyond what was held is booked all the same, and then nothing is left", () => {
  const account = settle(hold(newAccount(10), 5), 5, 12);
  assert.deepEqual([account.spent, left(account), lacking(account, 1)], [12, 0, 3]);
});

test("an unknown price counts as no money; input and output both count as tokens", () => {
  const usage = { input_tokens: 3, output_tokens: 4, money_micro_usd: null };
  assert.deepEqual([amountIn(usage, "tokens"), amountIn(usage, "money_micro_usd")], [7, 0]);
  assert.equal(amountIn({ ...usage, money_micro_usd: 9 }, "money_micro_usd"), 9);
});

test("a limit is only ever raised", () => {
  assert.deepEqual([raise(newAccount(5), 3).limit, raise(newAccount(5), 8).limit], [5, 8]);
});
