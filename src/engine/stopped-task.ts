// A task that was stopped: its attempt is over, and it waits until somebody resumes it, cancels it, or forgets it for long.

import { inLine } from "../core/foreign-words.ts";
import { TuttiError } from "../protocol/error.ts";
import { Answer, type Answerer, stoppedLabel } from "../protocol/task/ask.ts";
import { cancelTask } from "./end-task.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";
import { answerIn } from "./wait-body.ts";

/** How long a stopped task can be resumed. */
const resumableMs = 30 * 24 * 60 * 60 * 1000;

/** The ask with which the task waits to be resumed; undefined when it was not stopped. */
export function stopAskOf({ waits }: EngineParts, task: LiveTask): number | undefined {
  return [...(task.waits ?? [])].find((id) => waits.get(id)?.body.label === stoppedLabel);
}

/** Raises the ask, in the commit of whatever ended the attempt. */
export function raiseStopAsk(parts: EngineParts, task: LiveTask, stop: { attempt: number; reason: string }): void {
  const { waits, clock } = parts;
  const now = clock.now();
  const place = { run: task.run, key: `!stopped:${stop.attempt}`, raised_at: now, due: now + resumableMs };
  const question = `This task was stopped: ${inLine(stop.reason)}. Resume it? A no cancels it.`;
  const details = { stopped: { task: task.name, agent: task.agent, attempt: stop.attempt } };
  waits.open(task, place, { ask: { kind: "approval", question, details }, label: stoppedLabel });
  holdStopped(parts, task);
}

/** Until the ask is answered the task does not run, over restarts too. False when the task was not stopped. */
export function holdStopped(parts: EngineParts, task: LiveTask): boolean {
  const wait = stopAskOf(parts, task);
  if (wait === undefined) return false;
  parts.waits.listen(wait, Answer, (row) => {
    if (task.result !== undefined || task.tree.halted !== undefined) return;
    const answer = answerIn(row);
    // The ask of a task that is not over is withdrawn when the task is retried, which begins an attempt of its own.
    if (row.kind === "withdrawn") return;
    if (answer?.kind === "approval" && answer.approved) {
      // A run that an earlier process recorded does not announce itself.
      if (parts.waits.wasOpenAtStart(wait)) parts.recorder.emit(task, "run.started", { agent: task.agent });
      // A loop that has not returned yet goes on with the next attempt when it does.
      if (!task.running) parts.launch(task);
      return;
    }
    const reason = row.kind === "expired" ? "it was stopped and nobody resumed it in 30 days" : "it was stopped";
    cancelTask(parts, task, reason);
  });
  return true;
}

export function resumeStopped(parts: EngineParts, task: LiveTask, by: Answerer): void {
  const ask = stopAskOf(parts, task);
  const answer = JSON.stringify({ value: { kind: "approval", approved: true }, by });
  if (ask === undefined || !parts.waits.settle(ask, "answered", answer)) {
    throw new TuttiError("conflict", `the task ${task.name} is not stopped`);
  }
}
