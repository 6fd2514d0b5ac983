// What a tree of tasks took: time, tokens, money as far as prices are known, and whether it was a rehearsal.
import type { FoldedTree } from "../../core/fold-tree.ts";
import { partlyRehearsed } from "../../core/render-report.ts";
import { counted, duration, money } from "./units.ts";

export interface RunCost {
  /** From the start of the task at the top to its end. */
  readonly ms: number;
  readonly tokens: number;
  readonly money_micro_usd: number;
  readonly unpriced: boolean;
  readonly rehearsal: boolean;
  readonly called: boolean;
}

export function runCost({ task, tasks, tokens, money_micro_usd, unpriced, rehearsal, called }: FoldedTree): RunCost {
  const top = tasks.get(task);
  const ms = top === undefined ? 0 : (top.ended_at ?? top.created_at) - top.created_at;
  return { ms, tokens, money_micro_usd, unpriced, rehearsal, called };
}

/** For the end of a run. */
export function totalsLine(tree: FoldedTree, now: number): string {
  const ended = Math.max(...tree.tasks.values().map((view) => view.ended_at ?? now));
  const took = [
    counted(tree.tasks.size, "task"),
    duration(ended - startOf(tree, now)),
    `${tree.tokens} tokens`,
    moneyText(tree),
  ];
  const said = tree.called ? partlyRehearsed : "a rehearsal: the replies came from a script, no model was asked";
  const rehearsal = tree.rehearsal ? `; ${said}` : "";
  return `${took.join(", ")}${rehearsal}`;
}

/** For a run that goes on; short enough for one line of a terminal. */
export function liveTotals(tree: FoldedTree, now: number): string {
  const { size } = tree.tasks;
  return `${size - tree.unfinished} of ${size} done, ${costSoFar(tree, now)}`;
}

export function costSoFar(tree: FoldedTree, now: number): string {
  return [
    duration(now - startOf(tree, now)),
    `${tree.tokens} tokens`,
    moneyText(tree),
    ...(tree.rehearsal ? ["rehearsal"] : []),
  ].join(", ");
}

function startOf({ task, tasks }: FoldedTree, now: number): number {
  return tasks.get(task)?.created_at ?? now;
}

function moneyText({ money_micro_usd, unpriced }: FoldedTree): string {
  if (!unpriced) return money(money_micro_usd);
  return money_micro_usd === 0 ? "price unknown" : `${money(money_micro_usd)} and calls whose price is unknown`;
}
