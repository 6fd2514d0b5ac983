// What a tree took: time, tokens, money as far as prices are known, and whether it was a rehearsal.
import type { TaskEvent } from "../../protocol/task/event.ts";
import type { TaskView } from "../../protocol/task/task-view.ts";

export interface CostNotes {
  /** Some calls cost money nobody knows the amount of. */
  unpriced: boolean;
  /** At least one reply was played from a script. */
  rehearsal: boolean;
}

export interface RunCost extends Readonly<CostNotes> {
  readonly ms: number;
  readonly tokens: number;
  readonly money_micro_usd: number;
}

export function noteCost(notes: CostNotes, event: TaskEvent): void {
  if (event.type === "message.added" && event.data.message.name === "rehearsal") notes.rehearsal = true;
  if (event.type === "budget.settled" && event.data.spent.money_micro_usd === null) notes.unpriced = true;
}

/** `tree` is the task and all below it, parents first. */
export function runCost(tree: readonly TaskView[], notes: Readonly<CostNotes>): RunCost {
  const [root] = tree;
  const sum = (of: (view: TaskView) => number): number => tree.reduce((all, view) => all + of(view), 0);
  return {
    ms: root === undefined ? 0 : (root.ended_at ?? root.created_at) - root.created_at,
    tokens: sum((view) => view.tokens),
    money_micro_usd: sum((view) => view.money_micro_usd),
    unpriced: notes.unpriced,
    rehearsal: notes.rehearsal,
  };
}
