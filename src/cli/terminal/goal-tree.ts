// Draws a goal as it stands: its criteria, and each of its tasks with who does it and how far it is.
import { type FoldedGoal, goalIn } from "../../core/fold-goal.ts";
import type { FoldedTree } from "../../core/fold-tree.ts";
import { goalPhase } from "../../core/goal-phase.ts";
import { startedCheckText } from "../../protocol/task/started-check.ts";
import type { Criterion, Goal, GoalLink, PlannedTask } from "../../protocol/task/goal.ts";
import type { ModelWait } from "../../protocol/task/model-wait.ts";
import { waitingText } from "../../core/model-waiting.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { handoffText } from "./goal-status.ts";
import { printableName } from "./printable.ts";
import { costSoFar } from "./run-cost.ts";
import { bold, dim, paint } from "./style.ts";
import { counted, duration } from "./units.ts";
import { routeName } from "../../core/route-name.ts";

interface DrawOptions {
  readonly now: number;
  readonly maxLines?: number;
}

/** At most `maxLines` lines: tasks that are over are left out first, because they change no more. */
export function drawGoal(folded: FoldedGoal, tree: FoldedTree, { now, maxLines = Infinity }: DrawOptions): string[] {
  const goal = goalIn(folded);
  if (goal === undefined) return [dim("the goal begins")];
  const most = Math.max(1, Math.floor(maxLines / 3));
  const hidden = goal.acceptance.length - most;
  const head = [
    `${markOfGoal(goal)} ${dim(goal.id)} ${bold(printableName(goal.text))}`,
    `  ${checkingText(folded, folded.task, now) ?? managerText(goal, tree, now)}`,
    ...goal.acceptance.slice(0, most).map((criterion) => `  ${criterionLine(criterion)}`),
    ...(hidden > 0 ? [dim(`  … and ${hidden} more criteria`)] : []),
  ];
  const room = Math.max(1, maxLines - head.length - 1);
  const replaced = new Set(goal.plan.map(({ supersedes }) => supersedes));
  const current = goal.plan.filter(({ id }) => !replaced.has(id));
  const links = new Map(goal.links.map((link) => [link.planned, link]));
  const shown = fitting(current, links, room);
  const left = current.length - shown.length;
  const verified = current.filter(({ id }) => links.get(id)?.state === "verified").length;
  const ended = tree.tasks.get(tree.task)?.ended_at ?? now;
  return [
    ...head,
    ...shown.map((task) => `  ${taskLine(task, links.get(task.id), { folded, tree, now })}`),
    ...(left === 0 ? [] : [dim(`  … and ${counted(left, "more task")}`)]),
    dim(`  ${verified} of ${counted(current.length, "task")} verified, ${costSoFar(tree, ended)}`),
  ];
}

function fitting(
  tasks: readonly PlannedTask[],
  links: ReadonlyMap<string, GoalLink>,
  room: number,
): readonly PlannedTask[] {
  if (tasks.length <= room) return tasks;
  const isOpen = ({ id }: PlannedTask): boolean => {
    const state = links.get(id)?.state;
    return state === "launched" || state === "running" || state === "failed";
  };
  const kept = new Set([...tasks.filter(isOpen), ...tasks.filter((task) => !isOpen(task))].slice(0, room - 1));
  return tasks.filter((task) => kept.has(task));
}

function markOfGoal({ status }: Goal): string {
  switch (status) {
    case "done":
      return paint("green", "✓");
    case "failed":
    case "abandoned":
      return paint("red", "✗");
    case "blocked":
      return paint("yellow", "?");
    default:
      return paint("blue", "▸");
  }
}

/** A manager whose model does not answer waits for it, whatever it was about to do. */
function managerText(goal: Goal, tree: FoldedTree, now: number): string {
  const waiting = goalPhase(goal) === "ended" ? undefined : tree.waiting.get(tree.task);
  return waiting === undefined ? phaseText(goal) : paint("yellow", waitingText(waiting, now));
}

function phaseText(goal: Goal): string {
  const reason = goal.reason === "" ? "" : `: ${printableName(goal.reason)}`;
  const round = goal.rounds > 1 ? `, round ${goal.rounds}` : "";
  switch (goalPhase(goal)) {
    case "planning":
      return `the manager plans${round}`;
    case "working":
      return `sessions work${round}`;
    case "verifying":
      return `the work is merged and checked as a whole${round}`;
    case "waiting":
      return `waits for a person${reason}`;
    case "ended":
      return `${{ done: "done", failed: "not reached", abandoned: "given up" }[endOf(goal)]}${reason}`;
  }
}

function endOf({ status }: Goal): "done" | "failed" | "abandoned" {
  return status === "done" || status === "abandoned" ? status : "failed";
}

function criterionLine({ state, text, from, confirmed }: Criterion): string {
  const mark = { open: dim("○"), met: paint("green", "●"), unmet: paint("red", "✗") }[state];
  const origin = from === "person" || confirmed ? "" : dim(" (proposed by the model)");
  return `${mark} ${printableName(text)}${origin}`;
}

interface Drawn {
  readonly folded: FoldedGoal;
  readonly tree: FoldedTree;
  readonly now: number;
}

function taskLine({ id, after }: PlannedTask, link: GoalLink | undefined, drawn: Drawn): string {
  const { folded, tree } = drawn;
  if (link === undefined) {
    const waits = after.length === 0 ? "is planned" : `waits for ${after.join(", ")}`;
    return `${dim("·")} ${bold(printableName(id))} ${dim(printableName(waits))}`;
  }
  const route = folded.routes.get(link.task);
  const who = route === undefined ? "" : ` ${dim(printableName(routeName(route)))}`;
  const attempt = tree.tasks.get(link.task)?.attempt ?? 1;
  const again = attempt > 1 ? dim(`, attempt ${attempt}`) : "";
  return `${markOfLink(link)} ${bold(printableName(id))} ${stateText(link, drawn)}${again}${who}`;
}

function markOfLink({ state }: GoalLink): string {
  if (state === "verified") return paint("green", "✓");
  if (state === "unverified") return paint("yellow", "○");
  return state === "failed" || state === "superseded" ? paint("red", "✗") : paint("blue", "▸");
}

function stateText({ task, state }: GoalLink, { folded, tree, now }: Drawn): string {
  if (state === "verified" || state === "superseded") return state;
  if (state === "unverified") return "done, not proven yet";
  if (state === "failed") return `failed: ${printableName(folded.reasons.get(task) ?? "")}`;
  for (const open of tree.open.values()) if (open.task === task) return paint("yellow", "asks you");
  const checking = checkingText(folded, task, now);
  if (checking !== undefined) return checking;
  const waiting = waitingBelow(tree, task);
  if (waiting !== undefined) return paint("yellow", waitingText(waiting, now));
  return handoffText(folded.handoffs.get(task)?.at(-1)?.to ?? "received");
}

/** Of the task or of one below it, such as its reviewer. */
function waitingBelow({ waiting, tasks }: FoldedTree, task: TaskId): ModelWait | undefined {
  for (const [id, found] of waiting) {
    for (let at: TaskId | null = id; at !== null; at = tasks.get(at)?.parent ?? null) if (at === task) return found;
  }
  return undefined;
}

/** The clock behind it goes on, however long the check takes. */
function checkingText({ checking }: FoldedGoal, task: TaskId, now: number): string | undefined {
  const found = checking.get(task);
  if (found === undefined) return undefined;
  return `${printableName(startedCheckText(found.started))} ${dim(`(${duration(Math.max(0, now - found.since))})`)}`;
}
