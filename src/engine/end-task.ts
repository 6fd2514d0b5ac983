// Ends tasks: with a result, by a cancel with all below, or because the deadline passed.

import { killReason } from "../core/end-reasons.ts";
import { TuttiError } from "../protocol/error.ts";
import { toFailure } from "../protocol/failure.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { TerminalStatus } from "../protocol/task/task-status.ts";
import type { EngineParts } from "./engine-parts.ts";
import { type LiveTask, stoppedTime } from "./live-task.ts";
import { contentOf, type Outcome, resultIn } from "./outcome.ts";

/** The one place where a task becomes terminal (invariant 2). */
export function endTask(parts: EngineParts, task: LiveTask, status: TerminalStatus, outcome: Outcome): void {
  const { recorder, store, waits } = parts;
  // A task never completes over an open question: whoever could still answer is told that nobody needs it.
  if (status === "completed") waits.withdrawAll(task);
  const given = JSON.stringify(outcome);
  const body = recorder.clean(given);
  const row = { task: task.id, status, at: parts.clock.now(), body };
  // Whoever joins gets what a restart would give: what JSON keeps of it, and a copy of its own.
  const result: AgentResult =
    typeof outcome.content === "string" && body === given
      ? { content: contentOf(outcome), task_id: task.name, status }
      : resultIn(row, task.name);
  recorder.emit(task, `task.${status}`);
  task.result = result;
  store.addResult(row);
  if (!task.fresh) {
    store.setResumes(task.id, 0);
    parts.trials.over(task);
  }
  waits.withdrawAll(task);
  task.callOffDeadline?.();
  task.stop?.(new TuttiError("canceled", `the task ${task.name} is over`));
  const joiners = task.joiners;
  task.joiners = undefined;
  for (const join of joiners ?? []) join(result);
  parts.tasks.retire(task);
}

/** Cancels the task and all below it. Parents go first, so that no loop can spawn a child meanwhile (invariant 4). */
export function cancelTask(
  parts: EngineParts,
  task: LiveTask,
  reason: string,
  { kill = false }: { readonly kill?: boolean } = {},
): LiveTask[] {
  const canceled: LiveTask[] = [];
  const visit = (at: LiveTask): void => {
    const below = [...(at.children ?? [])];
    if (at.result === undefined) {
      canceled.push(at);
      // Before the end, so that this is the reason that the loop sees.
      if (kill) at.stop?.(killReason(at.name));
      endTask(parts, at, "canceled", { reason });
    }
    for (const child of below) visit(child);
  };
  parts.slots.hold(() => visit(task));
  return canceled;
}

/** Fails the task when its deadline passes, unless it is over by then. Does nothing for a task without one. */
export function watchDeadline(parts: EngineParts, task: LiveTask): void {
  const { deadline } = task;
  if (deadline === null || task.result !== undefined) return;
  const { clock, store } = parts;
  const now = clock.now();
  const remaining = deadline + stoppedTime(task, now) - now;
  task.callOffDeadline = clock.timer(Math.max(remaining, 0), () => {
    if (task.result !== undefined || (task.tree.halted ?? store.failure) !== undefined) return;
    const later = clock.now();
    if (task.clockStops > 0 || deadline + stoppedTime(task, later) > later) {
      // While a person is asked the end moves away as fast as the clock goes; looking again in a second is enough.
      task.callOffDeadline = clock.timer(1_000, () => watchDeadline(parts, task));
      return;
    }
    // Once it has begun, nobody knows how much of it was done.
    const retry = task.status === "pending" ? "safe" : "unknown";
    const error = new TuttiError("deadline", "the task did not end before its deadline", { retry });
    parts.slots.hold(() => {
      endTask(parts, task, "failed", { error: toFailure(error) });
      for (const child of task.children ?? []) cancelTask(parts, child, "the deadline of its parent passed");
    });
  });
}
