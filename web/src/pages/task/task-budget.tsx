// What may still be used: what was set apart for the task or a task above it, and the limits of the whole tree.

import type { ReactNode } from "react";

import { useTree } from "../../api/queries.ts";
import { useBudget } from "../../api/task-queries.ts";
import { count, money } from "../../format/show-time.ts";
import type { LiveTask, LiveTree } from "../../live/fold-tasks.ts";
import { AccountBar, TreeBars } from "../../ui/budget-bars.tsx";

/** The goal that a whole tree works for. The id of a goal is made from that of its root task. */
export function goalOf(tree: LiveTree | undefined): string | undefined {
  if (tree?.tasks.get(tree.root)?.runner !== "manager") return undefined;
  return tree.root.replace(/^tsk_/, "gol_");
}

export function TaskBudget({ task }: { readonly task: LiveTask }): ReactNode {
  const tree = useTree(task.root).data;
  const budget = useBudget(task.id, task.ended_at === null).data;
  if (tree === undefined || budget === undefined) return null;
  const { pays, root } = budget;
  const apart = [
    { label: "Money", account: pays.money_micro_usd, show: money },
    { label: "Tokens", account: pays.tokens, show: count },
  ].filter(({ account }) => account.owner !== root);
  const used = { money: tree.money_micro_usd, tokens: tree.tokens, tasks: tree.tasks.size };
  const whole = goalOf(tree) === undefined ? "the whole tree" : "the whole goal";
  return (
    <section className="col tight" aria-label="Budget">
      {apart.length === 0 ? null : (
        <>
          <span className="label">Set apart for this task and those below it</span>
          <div className="budget">
            {apart.map(({ label, account, show }) => (
              <AccountBar key={label} label={label} account={account} used={account.used} show={show} />
            ))}
          </div>
        </>
      )}
      <span className="label">Limits of {whole}</span>
      <div className="budget">
        <TreeBars tree={budget.tree} used={used} />
      </div>
      <p className="tiny soft num">
        This task used {money(task.money_micro_usd)} and {count(task.tokens)} tokens
        {tree.tokens === 0 ? "" : `, ${Math.round((task.tokens * 100) / tree.tokens)} % of all tokens so far`}.
      </p>
    </section>
  );
}
