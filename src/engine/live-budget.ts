// What the accounts of a tree say at this moment: limits with their raises, what was used, and what is held.

import type { AccountKind } from "../core/account.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { BudgetAccount, TaskBudget } from "../protocol/task/task-budget.ts";
import { type LiveTask, stoppedTime } from "./live-task.ts";
import { type Payer, payer } from "./payer.ts";

export interface LiveBudget {
  readonly pays: TaskBudget["pays"];
  readonly tree: TaskBudget["tree"];
}

export function liveBudget(task: LiveTask, now: number): LiveBudget {
  let root = task;
  while (root.parent !== undefined) root = root.parent;
  const { budget, tasks, startedAt } = task.tree;
  const worked = Math.max(0, now - startedAt - stoppedTime(root, now));
  return {
    pays: { tokens: paysFor(task, "tokens"), money_micro_usd: paysFor(task, "money_micro_usd") },
    tree: {
      tokens: accountOf(payer(root, "tokens"), "tokens"),
      money_micro_usd: accountOf(payer(root, "money_micro_usd"), "money_micro_usd"),
      tasks: { limit: budget.tasks, used: tasks },
      time_ms: { limit: budget.time_ms, used: worked },
      depth: budget.depth,
      concurrency: budget.concurrency,
    },
  };
}

function paysFor(task: LiveTask, kind: AccountKind): BudgetAccount & { readonly owner: TaskId } {
  const found = payer(task, kind);
  return { owner: found.owner.name, ...accountOf(found, kind) };
}

/** What tasks below spent out of what was set apart for them is held here, and shown as used. */
function accountOf({ owner, account }: Payer, kind: AccountKind): BudgetAccount {
  const { limit, held, spent } = account;
  const used = spent + spentApart(owner, kind);
  return { limit, used, reserved: Math.max(0, spent + held - used) };
}

function spentApart(task: LiveTask, kind: AccountKind): number {
  let sum = 0;
  for (const child of task.children ?? []) sum += (child.accounts?.[kind]?.spent ?? 0) + spentApart(child, kind);
  return sum;
}
