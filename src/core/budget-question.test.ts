import assert from "node:assert/strict";
import { test } from "node:test";

import { defaultBudget } from "../protocol/task/budget.ts";
import { budgetQuestion } from "./budget-question.ts";

test("the question about a limit says whether it is the default, where another is set, and what a yes does", () => {
  const tokens = { limit: "tokens", allowed: defaultBudget.tokens, wanted: 5_012_345, unpriced: false } as const;
  assert.equal(
    budgetQuestion(tokens),
    "The limit of this tree of tasks is reached: 5,000,000 tokens are allowed, 5,012,345 tokens would be used. " +
      "It is the default; `budget` of the agent or the invocation sets another. Go on? A yes doubles the limit.",
  );
  assert.doesNotMatch(budgetQuestion({ ...tokens, allowed: 100 }), /default/);
  assert.match(
    budgetQuestion({ ...tokens, allowed: 100, account: "tsk_1" }),
    /that tsk_1 was given is reached: 100 tokens/,
  );
  const money = { limit: "money_micro_usd", allowed: 10_000_000, wanted: 0, unpriced: true } as const;
  assert.match(budgetQuestion(money), /What this costs is not known, and the limit .* is \$10\.00\. It is the default/);
});
