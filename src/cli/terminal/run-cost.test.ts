import assert from "node:assert/strict";
import { test } from "node:test";

import {
  agent,
  completed,
  created,
  eventsOf,
  type Happening,
  said,
  started,
  top,
} from "../../../test/support/task-events.ts";
import { emptyTree, type FoldedTree, foldTree } from "../../core/fold-tree.ts";
import { liveTotals, runCost, totalsLine } from "./run-cost.ts";

const fold = (...happenings: Happening[]): FoldedTree => eventsOf(happenings).reduce(foldTree, emptyTree(top));
const priced = { key: "a", tokens: 30, money_micro_usd: 20_000 };

test("the cost of a run is the time of the task at the top and what all tasks used", () => {
  const tree = fold(created(top), created(agent, top), started(top), said(agent, { step: priced }), completed(top));
  const cost = { ms: 4, tokens: 30, money_micro_usd: 20_000, unpriced: false, rehearsal: false, called: true };
  assert.deepEqual(runCost(tree), cost);
});

test("the totals count until the last task has ended, and name unknown prices and a rehearsal", () => {
  const begun = [created(top), created(agent, top), started(top), started(agent), said(agent, { step: priced })];
  const over = fold(...begun, completed(top), completed(agent));
  assert.equal(totalsLine(over, 9_999), "2 tasks, 6 ms, 30 tokens, $0.02");
  const unpriced = said(agent, { name: "rehearsal", step: { ...priced, money_micro_usd: null } });
  assert.equal(
    totalsLine(fold(...begun, unpriced), 1_100),
    "2 tasks, 1.0 s, 60 tokens, $0.02 and calls whose price is unknown; " +
      "a rehearsal in part: some replies came from a script, others from models",
  );
});

test("while a run goes on, the totals say how many tasks are done", () => {
  const tree = fold(
    created(top),
    created(agent, top),
    started(agent),
    said(agent, { name: "rehearsal" }),
    completed(agent),
  );
  assert.equal(liveTotals(tree, 2_100), "1 of 2 done, 2.0 s, 0 tokens, $0.0000, rehearsal");
});
