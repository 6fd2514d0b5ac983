// Reads the limits of a goal as a person writes them with `--budget`, such as money=2.50 or time=30m.
import { TuttiError } from "../protocol/error.ts";
import { Budget, type BudgetLimit } from "../protocol/task/budget.ts";
import { parseAge } from "./parse-age.ts";

const limits: Readonly<Record<string, { readonly limit: BudgetLimit; readonly read: (text: string) => number }>> = {
  money: { limit: "money_micro_usd", read: (text) => Math.round(Number(text.replace(/^\$/, "")) * 1_000_000) },
  tokens: { limit: "tokens", read: Number },
  time: { limit: "time_ms", read: parseAge },
  tasks: { limit: "tasks", read: Number },
  concurrency: { limit: "concurrency", read: Number },
};

export function goalBudget(given: readonly string[]): Partial<Budget> {
  return Object.fromEntries(given.flatMap((text) => text.split(",")).map(limitIn));
}

function limitIn(text: string): [BudgetLimit, number] {
  const [, name = "", amount = ""] = /^\s*([a-z]+)\s*=\s*(\S+)\s*$/.exec(text) ?? [];
  const known = Object.hasOwn(limits, name) ? limits[name] : undefined;
  if (known === undefined) {
    const names = Object.keys(limits).join(", ");
    throw new TuttiError("usage", `${text} is no limit; write NAME=AMOUNT, where NAME is one of ${names}`);
  }
  const read = Budget.shape[known.limit].safeParse(known.read(amount));
  if (read.success) return [known.limit, read.data];
  throw new TuttiError("usage", `${text} is no limit: ${amount} is not a number that can be used, such as money=2.50`);
}
