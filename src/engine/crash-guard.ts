// Keeps a task that ends the process whenever it runs from being resumed for ever: it is parked until a person decides.

import { TuttiError } from "../protocol/error.ts";
import { toFailure } from "../protocol/failure.ts";
import { Answer, defaultAskMs, parkedLabel } from "../protocol/task/ask.ts";
import { answerIn } from "./wait-body.ts";
import { cancelTask, endTask } from "./end-task.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask } from "./live-task.ts";
import { holdStopped } from "./stopped-task.ts";

/** How often in a row a task may be under way when the process ends, until it is parked. */
const resumeLimit = 5;

/** From this many on, a task may be the one that ends the process: it is resumed when it is its turn to be on trial. */
const suspectFrom = 1;

/** A task of a tree that was taken over goes on, unless it was under way too often when the process ended. */
export function resumeTask(parts: EngineParts, task: LiveTask, count: number): void {
  if (holdStopped(parts, task)) return;
  if (count < resumeLimit) {
    task.resume = { count, counted: false, diedInStep: false };
    parts.launch(task);
  } else parkTask(parts, task, count);
}

/** The loop of the task is about to begin. Resolves when that is on disk; undefined when there is nothing to record. */
export function countResume(parts: EngineParts, task: LiveTask): Promise<void> | undefined {
  const { resume } = task;
  if (resume === undefined || resume.counted) return undefined;
  resume.counted = true;
  return resume.count < suspectFrom ? blame(parts, task) : countInTurn(parts, task);
}

async function countInTurn(parts: EngineParts, task: LiveTask): Promise<void> {
  // A survivor stays under way, so the next end must not count against it.
  const onSurvived = (): void => void forgive(parts, task)?.catch(() => undefined);
  await parts.trials.turn(task, onSurvived);
  if (task.result === undefined && task.tree.halted === undefined) await blame(parts, task);
  else parts.trials.over(task);
}

/** Recorded in advance: when the process ends now, the task was under way. */
function blame(parts: EngineParts, task: LiveTask): Promise<void> | undefined {
  return setCount(parts, task, (task.resume?.count ?? 0) + 1);
}

/** It was suspected together with others, and has shown that it is not the one. */
function forgive(parts: EngineParts, task: LiveTask): Promise<void> | undefined {
  // After a halt nothing is recorded any more.
  if (task.tree.halted !== undefined) return undefined;
  return setCount(parts, task, Math.min((task.resume?.count ?? 0) - 1, suspectFrom));
}

function setCount({ store }: EngineParts, { id, resume }: LiveTask, count: number): Promise<void> | undefined {
  if (resume === undefined) return undefined;
  resume.count = count;
  store.setResumes(id, count);
  return store.committed();
}

/** The task has recorded something new. After the process ended inside one of its steps, that says little yet. */
export function gotFurther({ store, trials }: EngineParts, task: LiveTask): void {
  if (task.resume === undefined || task.resume.diedInStep) return;
  task.resume = undefined;
  store.setResumes(task.id, 0);
  trials.over(task);
}

/** The process is stopped as it should be: that is no sign against the tasks that were under way. */
export function forgetResumes({ store, tasks }: EngineParts): void {
  for (const { id, resume } of tasks.all()) if (resume?.counted === true) store.setResumes(id, 0);
}

/** Asks whether to try again. The ask outlives restarts; while it is open the task does not run. */
function parkTask(parts: EngineParts, task: LiveTask, count: number): void {
  const { store, waits, clock } = parts;
  const raise = (): number => {
    const now = clock.now();
    const place = { run: task.run, key: `!parked:${crypto.randomUUID()}`, raised_at: now, due: now + defaultAskMs };
    const question = `This task was running when the process ended ${count} times in a row. Try again?`;
    const details = { parked: { task: task.name, agent: task.agent, times: count } };
    // Only a task that has begun can ask.
    if (task.status === "pending") parts.recorder.emit(task, "task.started");
    return waits.open(task, place, { ask: { kind: "approval", question, details }, label: parkedLabel });
  };
  const wait = [...(task.waits ?? [])].find((id) => waits.get(id)?.body.label === parkedLabel) ?? raise();
  waits.listen(wait, Answer, (row) => {
    if (task.result !== undefined || task.tree.halted !== undefined) return;
    const answer = answerIn(row);
    // The ask of a task that is not over is withdrawn when the task is retried, which is an answer too.
    if (row.kind === "withdrawn" || (answer?.kind === "approval" && answer.approved)) {
      // Once more: when the process ends again, the next start asks again.
      store.setResumes(task.id, resumeLimit - 1);
      resumeTask(parts, task, resumeLimit - 1);
      return;
    }
    const message = `the task was running when the process ended ${count} times in a row, and nobody agreed to try again`;
    endTask(parts, task, "failed", { error: toFailure(new TuttiError("refused", message)) });
    for (const child of task.children ?? []) cancelTask(parts, child, "its parent was not tried again");
  });
}
