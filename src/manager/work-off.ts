// LAUNCH and OBSERVE: launches tasks as they become ready, and takes their results and the person's messages as they come.

import { addToGraph, hasWaiting, predecessorsOf, settleTask, takeReady } from "../core/plan-graph.ts";
import type { NewTask, Source } from "../ports.ts";
import { toTuttiError } from "../protocol/error.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { PlannedTask } from "../protocol/task/goal.ts";
import { messageText } from "../protocol/task/message.ts";
import { isTerminal } from "../protocol/task/task-status.ts";
import { childOutcome } from "./child-result.ts";
import { decideRound } from "./decide-round.ts";
import { type GoalRun, goalNow, isStop, nextKey, noteOnGoal, takeMessage, tell } from "./goal-run.ts";
import type { AssignmentRequest } from "./manager-deps.ts";

/** More tasks than this are not launched at once, so that a goal of a thousand tasks costs as much per task as a small one. */
const defaultWindow = 64;
const mostSkipped = 15;

/** Returns when nothing runs and nothing can be launched. */
export async function workOff(run: GoalRun): Promise<void> {
  const window = run.deps.window ?? defaultWindow;
  while (run.stopped === undefined) {
    const ready = takeReady(run.graph, window - run.inFlight.size);
    if (ready.length > 0) await launch(run, ready);
    if (run.inFlight.size === 0) {
      if (ready.length > 0) continue;
      return;
    }
    const sources: Source[] = [{ message: true }, ...[...run.inFlight.keys()].map((child) => ({ child }))];
    const first = await run.durable.select(nextKey(run, "observe"), sources);
    if (first.kind === "message") await takeFollowUp(run, messageText(first.value));
    else if (first.kind === "child") await settleEnded(run, first.value);
  }
  await cancelAll(run);
}

function requestFor(run: GoalRun, planned: PlannedTask, isLast: boolean): AssignmentRequest {
  const predecessors = predecessorsOf(run.graph, planned).flatMap((id) => run.finished.get(id) ?? []);
  return { goal: goalNow(run), planned, predecessors, file: run.file, isLast };
}

/** All tasks that are ready now are created together, before any of them runs. */
async function launch(run: GoalRun, ready: readonly PlannedTask[]): Promise<void> {
  const isLast = ready.length === 1 && run.inFlight.size === 0 && !hasWaiting(run.graph);
  const children = ready.map((planned): NewTask => ({
    ...run.deps.assign(requestFor(run, planned, isLast)),
    rights: { tools: "*", roots: [planned.workdir] },
  }));
  let tasks;
  try {
    tasks = await run.durable.spawn(nextKey(run, "launch"), children);
  } catch (thrown) {
    const { code, message } = toTuttiError(thrown);
    if (code === "canceled" || code === "stopped") throw thrown;
    for (const { id } of ready) fail(run, id, `it could not be launched: ${message}`);
    if (code === "over_budget") run.stopped = message;
    return;
  }
  ready.forEach((planned, at) => {
    const task = tasks[at];
    if (task === undefined) return;
    run.tasks.set(planned.id, task);
    run.inFlight.set(task, planned);
    tell(run, { type: "goal.linked", data: { task, planned: planned.id } });
    const replaced = planned.supersedes === null ? undefined : run.tasks.get(planned.supersedes);
    if (replaced === undefined) return;
    const reason = `${planned.id} takes its place`;
    tell(run, {
      type: "goal.link_changed",
      data: { task: replaced, state: "superseded", superseded_by: task, evidence: [], reason },
    });
  });
}

/**
 * Takes the result of a task, and at once those of others that have ended meanwhile, so that many short tasks are settled
 * and followed up together. When a look finds no others, the next looks are left out, the more the less they find.
 */
async function settleEnded(run: GoalRun, value: AgentResult): Promise<void> {
  settle(run, value);
  const { looks } = run;
  if (looks.skip > 0 || run.inFlight.size === 0) {
    looks.skip -= 1;
    return;
  }
  const snapshots = await run.durable.snapshot(nextKey(run, "ended"), [...run.inFlight.keys()]);
  const ended = snapshots.filter(({ status }) => isTerminal(status)).map(({ task_id }) => task_id);
  for (const result of await run.durable.join(ended)) settle(run, result);
  looks.pause = ended.length > 0 ? 0 : Math.min(mostSkipped, looks.pause * 2 + 1);
  looks.skip = looks.pause;
}

function fail(run: GoalRun, id: string, reason: string): void {
  run.failures.set(id, reason);
  settleTask(run.graph, id, "failed");
}

/** Only the recorded state and evidence of the task count. What its session said is a claim, and is not even read. */
function settle(run: GoalRun, value: AgentResult): void {
  const task = value.task_id;
  const planned = run.inFlight.get(task);
  if (planned === undefined) return;
  run.inFlight.delete(task);
  const outcome = childOutcome(value);
  const { result } = outcome;
  const unjudged = outcome.state === "failed" ? undefined : (result?.unjudged ?? restsOn(run, planned));
  const state = outcome.state === "verified" && unjudged !== undefined ? "unverified" : outcome.state;
  const reason = outcome.state === "verified" && unjudged !== undefined ? unjudged : outcome.reason;
  if (result?.goal_ended_by !== undefined) run.stopped ??= `${result.goal_ended_by} ended the goal`;
  const evidence = result?.evidence ?? [];
  tell(run, { type: "goal.link_changed", data: { task, state, superseded_by: null, evidence, reason } });
  if (state === "failed" || result === undefined) return fail(run, planned.id, reason);
  if (state === "unverified") run.unproven.set(task, { planned: planned.id, pending: result.pending, unjudged });
  run.finished.set(planned.id, { planned, task, result });
  settleTask(run.graph, planned.id, "verified");
}

/** Checks of work compare it with what it builds on, so they prove nothing where nobody has judged that. */
function restsOn(run: GoalRun, planned: PlannedTask): string | undefined {
  const unjudged = predecessorsOf(run.graph, planned).filter((id) => {
    const task = run.tasks.get(id);
    return task !== undefined && run.unproven.get(task)?.unjudged !== undefined;
  });
  return unjudged.length === 0 ? undefined : `It builds on ${unjudged.join(", ")}, which nobody has judged yet.`;
}

/**
 * `stop` ends the goal and `stop NAME` one task, without a model. Anything else goes into a decision at once, which may add
 * tasks to those that run.
 */
async function takeFollowUp(run: GoalRun, text: string): Promise<void> {
  if (isStop(text)) {
    run.stopped = "the person ended the goal";
    return;
  }
  const [, name = ""] = /^\s*stop\s+(\S+)\s*$/i.exec(text) ?? [];
  const task = [...run.inFlight].find(([id, { id: planned }]) => id === name || planned === name)?.[0];
  if (task !== undefined) {
    noteOnGoal(run, `the person: ${text}`);
    await run.durable.cancel(nextKey(run, "cancel"), task);
    return;
  }
  takeMessage(run, text);
  const decided = await decideRound(run, { problems: [], midway: true });
  if (decided.kind === "planned") addRound(run, decided.round);
  else if (decided.kind === "stop") noteOnGoal(run, decided.reason);
}

export function addRound(
  run: GoalRun,
  {
    tasks,
    dropped,
  }: { readonly tasks: readonly PlannedTask[]; readonly dropped: readonly { what: string; reason: string }[] },
): void {
  const round = goalNow(run).rounds + 1;
  tell(run, { type: "goal.planned", data: { round, tasks: [...tasks], dropped: [...dropped] } });
  addToGraph(run.graph, tasks);
}

async function cancelAll(run: GoalRun): Promise<void> {
  for (const [task, { id }] of run.inFlight) {
    await run.durable.cancel(nextKey(run, "cancel"), task);
    const reason = `it was canceled: ${run.stopped ?? "the goal ended"}`;
    tell(run, {
      type: "goal.link_changed",
      data: { task, state: "failed", superseded_by: null, evidence: [], reason },
    });
    run.inFlight.delete(task);
    fail(run, id, reason);
  }
}
