// What a task may still use: the account that pays for it, and the limits of its whole tree as they are now.

import { z } from "zod";

import { TaskId, Time } from "../ids.ts";

const Amount = z.int().nonnegative();

const Account = z.strictObject({
  limit: Amount,
  used: Amount,
  /** Held for calls under way and for tasks below. Null where another process works on the tree, which alone knows it. */
  reserved: Amount.nullable(),
});
export type BudgetAccount = z.infer<typeof Account>;

const Counted = z.strictObject({ limit: Amount, used: Amount });

export const TaskBudget = z.strictObject({
  task: TaskId,
  root: TaskId,
  /** What pays for the task: what was set apart for it or for a task above it, which `owner` names; else all of the tree's. */
  pays: z.strictObject({
    tokens: Account.extend({ owner: TaskId }),
    money_micro_usd: Account.extend({ owner: TaskId }),
  }),
  /** Of all tasks of the tree together, with every raise that a person agreed to. */
  tree: z.strictObject({
    tokens: Account,
    money_micro_usd: Account,
    tasks: Counted,
    /** Working time; time in which a person was asked does not count. */
    time_ms: Counted,
    depth: Amount,
    concurrency: Amount,
  }),
  /** When the task must be over at the latest. */
  deadline: Time.nullable(),
});
export type TaskBudget = z.infer<typeof TaskBudget>;
