// Draws a tree of tasks: one line per task, with its status, its agent and what it used.
import type { TaskView } from "../../protocol/task/task-view.ts";
import type { TaskStatus } from "../../protocol/task/task-status.ts";
import type { ModelWait } from "../../protocol/task/model-wait.ts";
import { waitingText } from "../../core/model-waiting.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { printableName } from "./printable.ts";
import { bold, dim, paint } from "./style.ts";
import { counted, duration, money } from "./units.ts";

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

interface DrawTreeOptions {
  readonly now: number;
  readonly maxLines?: number;
  readonly waiting?: ReadonlyMap<TaskId, ModelWait>;
}

/** Takes parents before their children. Draws at most `maxLines` lines; the last one then says how many tasks are left out. */
export function drawTree(views: readonly TaskView[], { now, maxLines = Infinity, waiting }: DrawTreeOptions): string[] {
  const [top] = views;
  if (top === undefined) return [];
  const room = views.length <= maxLines ? Infinity : maxLines - 1;
  const children = Map.groupBy(views.slice(1), (view) => view.parent);
  const lines: string[] = [];
  const waitOf = ({ id }: TaskView): string => {
    const found = waiting?.get(id);
    return found === undefined ? "" : ` ${paint("yellow", waitingText(found, now))}`;
  };
  const draw = (view: TaskView, indent: string, branch: string): void => {
    if (lines.length >= room) return;
    lines.push(`${dim(indent + branch)}${lineOf(view, now)}${waitOf(view)}`);
    const below = children.get(view.id) ?? [];
    const deeper = indent + (branch === "" ? "" : branch === "└─ " ? "   " : "│  ");
    below.forEach((child, index) => draw(child, deeper, index === below.length - 1 ? "└─ " : "├─ "));
  };
  draw(top, "", "");
  const left = views.length - lines.length;
  return left === 0 ? lines : [...lines, dim(`… and ${left} more`)];
}

function lineOf(view: TaskView, now: number): string {
  const used = [
    duration((view.ended_at ?? now) - view.created_at),
    ...(view.steps > 0 ? [counted(view.steps, "step")] : []),
    ...(view.tokens > 0 ? [`${view.tokens} tokens`] : []),
    ...(view.money_micro_usd > 0 ? [money(view.money_micro_usd)] : []),
    ...(view.attempt > 1 ? [`attempt ${view.attempt}`] : []),
    ...(view.detached ? ["detached"] : []),
  ];
  return `${markOf(view.status)} ${bold(printableName(view.agent))} ${dim(view.id)} ${view.status === "input_required" ? "waits for an answer" : view.status} ${dim(used.join(", "))}`;
}
