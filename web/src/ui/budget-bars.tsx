// The limits of a tree of tasks, with what was used of each; time runs on while nobody is asked.

import type { ReactNode } from "react";

import type { TaskBudget } from "../../../src/client/index.ts";
import { count, duration, money } from "../format/show-time.ts";
import { UseBar } from "./use-bar.tsx";

/** `used`: what the page has counted, which is newer than what was read. */
export function TreeBars({
  tree,
  used,
}: {
  readonly tree: TaskBudget["tree"];
  readonly used: { readonly money: number; readonly tokens: number; readonly tasks: number };
}): ReactNode {
  return (
    <>
      <AccountBar label="Money" account={tree.money_micro_usd} used={used.money} show={money} />
      <AccountBar label="Tokens" account={tree.tokens} used={used.tokens} show={count} />
      <UseBar label="Tasks" value={used.tasks} of={tree.tasks.limit} show={count} />
      <UseBar label="Working time" value={tree.time_ms.used} of={tree.time_ms.limit} show={duration} />
    </>
  );
}

export function AccountBar({
  label,
  account,
  used,
  show,
}: {
  readonly label: string;
  readonly account: TaskBudget["tree"]["tokens"];
  readonly used: number;
  readonly show: (value: number) => string;
}): ReactNode {
  return <UseBar label={label} value={used} of={account.limit} held={account.reserved ?? 0} show={show} />;
}
