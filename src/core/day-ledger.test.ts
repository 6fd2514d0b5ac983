import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";
import {
  type Amounts,
  type DayLedger,
  each,
  fitsAlone,
  joinDay,
  leaveDay,
  mergeDays,
  newDay,
  nothing,
  takeFor,
} from "./day-ledger.ts";
import { choiceIn, choiceOf, dayQuestion } from "./day-question.ts";

const tokens = (amount: number): Amounts => ({ tokens: amount, money_micro_usd: 0 });
/** All that counts against the cap. */
const totalOf = ({ spent, carried, takers }: DayLedger): Amounts =>
  each((kind) => Object.values(takers).reduce((sum, { taken: all }) => sum + all[kind], spent[kind] + carried[kind]));
const one = { id: "p1", node: "a" };
const two = { id: "p2", node: "b" };

function taken(
  ledger: DayLedger,
  process: typeof one,
  limit: number,
  [wanted, used = 0]: readonly [number, number?],
): DayLedger {
  const made = takeFor(
    ledger,
    process,
    { tokens: limit },
    { used: tokens(used), held: nothing, wanted: tokens(wanted) },
  );
  assert.ok("ledger" in made, JSON.stringify(made));
  return made.ledger;
}

test("what processes take together never passes the cap, whatever they ask for and in whatever order", () => {
  const step = fc.record({
    first: fc.boolean(),
    wanted: fc.integer({ min: 0, max: 80 }),
    used: fc.integer({ min: 0, max: 40 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.array(step, { maxLength: 40 }), (limit, steps) => {
      let ledger = newDay(1);
      const used = { p1: 0, p2: 0 };
      for (const { first, wanted, used: more } of steps) {
        const process = first ? one : two;
        const key = first ? "p1" : "p2";
        const need = { used: tokens(used[key]), held: nothing, wanted: tokens(wanted) };
        const made = takeFor(ledger, process, { tokens: limit }, need);
        if ("reached" in made) {
          assert.ok(made.reached.missing > 0);
          continue;
        }
        ({ ledger } = made);
        used[key] += Math.min(more, wanted);
        assert.ok(totalOf(ledger).tokens <= limit);
        assert.ok(used.p1 + used.p2 <= totalOf(ledger).tokens);
      }
    }),
  );
});

test("a process that ends gives back what it does not use, and one that was killed keeps it until the day is over", () => {
  const begun = taken(newDay(1), one, 100, [60, 10]);
  assert.equal(totalOf(begun).tokens, 70);
  const left = leaveDay(begun, one, { held: tokens(20), used: tokens(30) });
  assert.deepEqual([left.spent.tokens, left.carried.tokens, left.takers], [30, 20, {}]);
  const next = { id: "p3", node: "a" };
  const killed = joinDay(begun, next, tokens(30));
  assert.deepEqual([killed.spent.tokens, killed.carried.tokens, killed.takers], [30, 40, {}]);
});

test("a process that joins leaves those of other nodes as they are, and counts what nobody counted", () => {
  const both = taken(taken(newDay(1), one, 1_000, [60]), two, 1_000, [60]);
  const joined = joinDay(both, { id: "p3", node: "a" }, tokens(500));
  assert.deepEqual(Object.keys(joined.takers), ["p2"]);
  assert.equal(totalOf(joined).tokens, 500);
  assert.deepEqual(totalOf(joinDay(joined, { id: "p3", node: "a" }, tokens(500))), totalOf(joined));
});

test("a call that fits once others have ended need not ask", () => {
  const ledger = taken(newDay(1), one, 100, [90]);
  const need = { used: tokens(10), wanted: tokens(90) };
  assert.ok(fitsAlone(ledger, "p1", { tokens: 100 }, need));
  assert.ok(!fitsAlone(ledger, "p1", { tokens: 100 }, { ...need, wanted: tokens(91) }));
  assert.ok(!fitsAlone(ledger, "p2", { tokens: 100 }, { used: nothing, wanted: tokens(20) }));
});

test("a move into another record forgets nothing of the day", () => {
  const from = taken(newDay(2), one, 100, [60]);
  assert.equal(totalOf(mergeDays(taken(newDay(2), two, 100, [30]), from)).tokens, 90);
  assert.deepEqual(mergeDays(newDay(0), from), { ...from, spent: nothing, carried: nothing });
  assert.equal(mergeDays(newDay(3), from).day, 3);
});

test("the question names the cap, what was spent, what is reserved, and the answers do what they say", () => {
  const reached = {
    kind: "money_micro_usd",
    limit: 5_000_000,
    spent: 4_970_000,
    reserved: 100_000,
    wanted: 600_000,
    missing: 670_000,
  } as const;
  const { question, choices, details } = dayQuestion(reached, 5_000_000);
  assert.equal(
    question,
    "Today's cap of $5.00 over all work is used up: $4.97 spent, $0.10 reserved, and the next call may use $0.60. New calls of models wait. Raise it for today, wait until 00:00 UTC, or stop what waits?",
  );
  assert.deepEqual(choices, [
    "raise it by $5.00 for today",
    "raise it by $1.00 for today",
    "wait until 00:00 UTC",
    "stop what waits",
  ]);
  const after = (answer: unknown): DayLedger => choiceIn(newDay(1), choiceOf(details, answer));
  assert.deepEqual(
    after(choices[1]).raised,
    each((kind) => (kind === "tokens" ? 0 : 1_000_000)),
  );
  assert.deepEqual([after(choices[2]).decision, after(choices[3]).decision], ["wait", "stop"]);
  assert.deepEqual(after("raise it by $1000000.00 for today"), newDay(1));
});
