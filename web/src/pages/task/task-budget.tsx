// What may still be used: the limits hold for all tasks of the goal together, and the task's own part is named.

import type { ReactNode } from "react";

import { useGoal, useTree } from "../../api/queries.ts";
import { count, money } from "../../format/show-time.ts";
import type { LiveTask, LiveTree } from "../../live/fold-tasks.ts";
import { UseBar } from "../../ui/use-bar.tsx";

/** The goal that a whole tree works for. The id of a goal is made from that of its root task. */
export function goalOf(tree: LiveTree | undefined): string | undefined {
  if (tree?.tasks.get(tree.root)?.runner !== "manager") return undefined;
  return tree.root.replace(/^tsk_/, "gol_");
}

export function TaskBudget({ task }: { readonly task: LiveTask }): ReactNode {
  const tree = useTree(task.root).data;
  const goal = goalOf(tree);
  return tree === undefined || goal === undefined ? null : <GoalBudget goal={goal} tree={tree} task={task} />;
}

function GoalBudget({
  goal,
  tree,
  task,
}: {
  readonly goal: string;
  readonly tree: LiveTree;
  readonly task: LiveTask;
}): ReactNode {
  const budget = useGoal(goal).data?.budget;
  if (budget === undefined) return null;
  return (
    <section className="budget" aria-label="Budget">
      <UseBar label="Money" value={tree.money_micro_usd} of={budget.money_micro_usd} show={money} />
      <UseBar label="Tokens" value={tree.tokens} of={budget.tokens} show={count} />
      <UseBar label="Tasks" value={tree.tasks.size} of={budget.tasks} show={String} />
      <p className="tiny soft num">
        These limits hold for the whole goal. This task used {money(task.money_micro_usd)} and {count(task.tokens)}{" "}
        tokens
        {tree.tokens === 0 ? "" : `, ${Math.round((task.tokens * 100) / tree.tokens)} % of all tokens so far`}.
      </p>
    </section>
  );
}
