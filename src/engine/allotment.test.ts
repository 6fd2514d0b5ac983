import assert from "node:assert/strict";
import { test } from "node:test";

import { left } from "../core/account.ts";
import { TuttiError } from "../protocol/error.ts";
import { allot, giveBack } from "./allotment.ts";
import { liveTask, type LiveTask, newTree } from "./live-task.ts";
import { rootAccounts, rootBudget } from "./payer.ts";
import { Slots } from "./slots.ts";

function taskIn(parent?: LiveTask): LiveTask {
  const budget = rootBudget({ tokens: 100, money_micro_usd: 50 });
  const tree = parent?.tree ?? newTree({ root: 1, budget, tasks: 1, startedAt: 0 }, new Slots(1));
  const made = liveTask({
    id: 1,
    name: "tsk_0_1",
    parent,
    tree,
    kind: "loop",
    agent: "a",
    createdAt: 0,
    deadline: null,
    run: 1,
    fresh: true,
    rights: { tools: "*", roots: [] },
  });
  if (parent === undefined) made.accounts = rootAccounts(budget);
  return made;
}

function childWith(parent: LiveTask, tokens: number): LiveTask {
  const child = taskIn(parent);
  child.accounts = allot(parent, [{ tokens, money_micro_usd: 0 }])[0];
  return child;
}

const freeTokens = (task: LiveTask): number => (task.accounts?.tokens === undefined ? 0 : left(task.accounts.tokens));

test("invariant 7: allotments are all made or none, and together never more than is left", () => {
  const root = taskIn();
  const before = root.accounts;
  assert.throws(
    () =>
      allot(root, [
        { tokens: 60, money_micro_usd: 0 },
        { tokens: 60, money_micro_usd: 0 },
      ]),
    (thrown: unknown) =>
      thrown instanceof TuttiError && thrown.code === "refused" && thrown.message.includes("40 tokens"),
  );
  assert.deepEqual(root.accounts, before);
  assert.equal(
    allot(root, [{ tokens: 60, money_micro_usd: 0 }, undefined, { tokens: 40, money_micro_usd: 50 }]).length,
    3,
  );
  assert.equal(freeTokens(root), 0);
});

test("invariant 7: what was not used comes back; what calls still held counts as used", () => {
  const root = taskIn();
  const child = childWith(root, 60);
  assert.equal(freeTokens(root), 40);
  child.accounts = { tokens: { limit: 60, spent: 10, held: 20 } };
  giveBack(child);
  assert.deepEqual([freeTokens(root), root.accounts?.tokens?.spent, root.accounts?.tokens?.held], [70, 30, 0]);
});

test("a grandchild's allotment comes out of its parent's, not out of the root's", () => {
  const root = taskIn();
  const child = childWith(root, 60);
  const grandchild = childWith(child, 50);
  assert.deepEqual([freeTokens(root), freeTokens(child), freeTokens(grandchild)], [40, 10, 50]);
  assert.throws(() => allot(child, [{ tokens: 11, money_micro_usd: 0 }]), { code: "refused" });
  giveBack(grandchild);
  giveBack(child);
  assert.equal(freeTokens(root), 100);
});

test("a child limited in one thing alone has no account for the other, and takes none of it", () => {
  const root = taskIn();
  const [accounts] = allot(root, [{ tokens: 60 }]);
  assert.deepEqual(accounts, { tokens: { limit: 60, held: 0, spent: 0 } });
  assert.deepEqual(root.accounts?.money_micro_usd, { limit: 50, held: 0, spent: 0 });
  assert.throws(() => allot(root, [{ tokens: 1 }, { money_micro_usd: 51 }]), { code: "refused" });
  assert.equal(freeTokens(root), 40, "none was held when one was refused");
});
