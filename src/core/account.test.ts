import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { Usage } from "../protocol/budget.ts";
import { type Account, amountOf, left, newAccount, raise, reserve, settle } from "./account.ts";

const usage = (tokens: number, money: number | null): Usage => ({
  input_tokens: tokens,
  output_tokens: 0,
  money_micro_usd: money,
});

test("invariant 7: spent and held never pass the limit, whatever the order of calls", () => {
  const call = fc.record({
    tokens: fc.nat(60),
    money: fc.nat(60),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    settles: fc.nat(4),
  });
  fc.assert(
    fc.property(fc.nat(200), fc.nat(200), fc.array(call, { maxLength: 40 }), (tokens, money, calls) => {
      let account: Account = newAccount({ tokens, money });
      const open: { held: Usage; used: Usage }[] = [];
      let used = 0;
      for (const each of calls) {
        const wanted = usage(each.tokens, each.money);
        const reservation = reserve(account, wanted);
        const fits = left(account).tokens >= each.tokens && left(account).money >= each.money;
        assert.equal(reservation.ok, fits);
        if (reservation.ok) {
          account = reservation.account;
          open.push({
            held: wanted,
            used: usage(Math.floor(each.tokens * each.share), Math.floor(each.money * each.share)),
          });
        }
        for (const done of open.splice(0, each.settles)) {
          account = settle(account, amountOf(done.held), amountOf(done.used));
          used += done.used.input_tokens;
        }
        assert.ok(account.spent.tokens + account.held.tokens <= tokens);
        assert.ok(account.spent.money + account.held.money <= money);
        assert.equal(account.spent.tokens, used);
        assert.equal(
          account.held.tokens,
          open.reduce((sum, { held }) => sum + held.input_tokens, 0),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test("what was used beyond what was held is booked all the same, and then nothing is left", () => {
  const reservation = reserve(newAccount({ tokens: 10, money: 0 }), usage(5, 0));
  assert.ok(reservation.ok);
  const account = settle(reservation.account, { tokens: 5, money: 0 }, { tokens: 12, money: 0 });
  assert.deepEqual([account.spent.tokens, left(account).tokens], [12, 0]);
  assert.equal(reserve(account, usage(1, 0)).ok, false);
});

test("an unknown price under a money limit is asked about first, and then goes on", () => {
  const account = newAccount({ tokens: 10, money: 10 });
  const refused = reserve(account, usage(1, null));
  assert.ok(!refused.ok && refused.unpriced && refused.limit === "money_micro_usd");
  assert.equal(reserve(raise(account, {}, { unpriced: true }), usage(1, null)).ok, true);
});

test("a refusal names the limit, what is allowed and what was wanted", () => {
  assert.deepEqual(reserve(newAccount({ tokens: 3, money: 9 }), usage(4, 1)), {
    ok: false,
    limit: "tokens",
    allowed: 3,
    wanted: 4,
    unpriced: false,
  });
  assert.deepEqual(reserve(newAccount({ tokens: 9, money: 3 }), usage(4, 4)), {
    ok: false,
    limit: "money_micro_usd",
    allowed: 3,
    wanted: 4,
    unpriced: false,
  });
});

test("a limit is only ever raised", () => {
  const account = raise(newAccount({ tokens: 5, money: 5 }), { tokens: 3, money: 8 });
  assert.deepEqual(account.limit, { tokens: 5, money: 8 });
});
