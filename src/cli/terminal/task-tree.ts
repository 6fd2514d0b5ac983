// Draws a tree of tasks: one line each, with its state, its agent and what it used.
import type { TaskView } from "../../protocol/task/task-view.ts";
import { isTerminal, type TaskStatus } from "../../protocol/task/task-status.ts";
import { bold, dim, paint } from "./output.ts";
import { printable } from "./printable.ts";
import { type CostNotes, type RunCost, runCost } from "./run-cost.ts";

const marks: Readonly<Record<TaskStatus, { mark: string; color: "green" | "red" | "yellow" | "blue" | "dim" }>> = {
  pending: { mark: "·", color: "dim" },
  running: { mark: "▸", color: "blue" },
  input_required: { mark: "?", color: "yellow" },
  completed: { mark: "✓", color: "green" },
  failed: { mark: "✗", color: "red" },
  canceled: { mark: "–", color: "yellow" },
};

export function markOf(status: TaskStatus): string {
  const { mark, color } = marks[status];
  return paint(color, mark);
}

/** `views` are parents first; at most `most` lines, with a last line that says how many were left out. */
export function drawTree(
  views: readonly TaskView[],
  options: { readonly now: number; readonly most?: number },
): string[] {
  const children = Map.groupBy(views.slice(1), (view) => view.parent);
  const lines: string[] = [];
  const draw = (view: TaskView, indent: string, branch: string): void => {
    lines.push(`${dim(indent + branch)}${lineOf(view, options.now)}`);
    const below = children.get(view.id) ?? [];
    const deeper = indent + (branch === "" ? "" : branch === "└─ " ? "   " : "│  ");
    below.forEach((child, index) => draw(child, deeper, index === below.length - 1 ? "└─ " : "├─ "));
  };
  if (views[0] !== undefined) draw(views[0], "", "");
  const most = options.most ?? Infinity;
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), dim(`… and ${lines.length - most + 1} more`)];
}

function lineOf(view: TaskView, now: number): string {
  const used = [
    duration((view.ended_at ?? now) - view.created_at),
    ...(view.steps > 0 ? [view.steps === 1 ? "1 step" : `${view.steps} steps`] : []),
    ...(view.tokens > 0 ? [`${view.tokens} tokens`] : []),
    ...(view.money_micro_usd > 0 ? [money(view.money_micro_usd)] : []),
    ...(view.attempt > 1 ? [`attempt ${view.attempt}`] : []),
    ...(view.detached ? ["detached"] : []),
  ];
  return `${markOf(view.status)} ${bold(printable(view.agent))} ${dim(view.id)} ${view.status} ${dim(used.join(", "))}`;
}

/** What a tree took in all, and that it was a rehearsal if it was. */
export function totalsLine(views: readonly TaskView[], cost: RunCost, now: number): string {
  const began = Math.min(...views.map((view) => view.created_at));
  const ended = Math.max(...views.map((view) => view.ended_at ?? now));
  const tasks = views.length === 1 ? "1 task" : `${views.length} tasks`;
  const took = [tasks, duration(ended - began), `${cost.tokens} tokens`, money(cost.money_micro_usd)];
  const unpriced = cost.unpriced ? " and calls of unknown price" : "";
  const rehearsal = cost.rehearsal ? "; a rehearsal: the replies came from a script, no model was asked" : "";
  return `${took.join(", ")}${unpriced}${rehearsal}`;
}

/** The same while it goes on, in few words. */
export function liveTotals(views: readonly TaskView[], notes: Readonly<CostNotes>, now: number): string {
  const { tokens, money_micro_usd, unpriced, rehearsal } = runCost(views, notes);
  const began = Math.min(...views.map((view) => view.created_at));
  const open = views.filter((view) => !isTerminal(view.status)).length;
  const cost = `${money(money_micro_usd)}${unpriced ? " and calls of unknown price" : ""}`;
  const took = [`${views.length - open} of ${views.length} done`, duration(now - began), `${tokens} tokens`, cost];
  return [...took, ...(rehearsal ? ["rehearsal"] : [])].join(", ");
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function money(microUsd: number): string {
  return `$${(microUsd / 1_000_000).toFixed(microUsd < 10_000 ? 4 : 2)}`;
}
