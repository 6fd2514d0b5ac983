// What a run does with tasks below its own: spawn, join, cancel, write to, look at.

import { z } from "zod";

import { type ErrorCode, errorTable, toTuttiError, TuttiError } from "../protocol/error.ts";
import { Failure, toFailure } from "../protocol/failure.ts";
import { TaskId } from "../protocol/ids.ts";
import { type AgentResult, TaskSnapshot } from "../protocol/invocation/invocation-result.ts";
import { completeMessage, type Message } from "../protocol/task/message.ts";
import type { NewTask } from "../ports.ts";
import { isOverTasks, isOverTime, passTasks, passTime } from "./budget-gate.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { addChildren } from "./add-tasks.ts";
import { cancelTask } from "./end-task.ts";
import type { LiveTask } from "./live-task.ts";
import { idInName } from "../store/names.ts";
import { resultIn } from "./outcome.ts";
import type { RunCore } from "./run-core.ts";
import { snapshotsOf } from "./snapshot.ts";
import type { BudgetAsker } from "./budget-gate.ts";

export async function spawnChildren(
  core: RunCore,
  key: string,
  spawn: { readonly children: readonly NewTask[]; readonly shared: unknown },
  ask: BudgetAsker,
): Promise<TaskId[]> {
  core.use(key);
  const { children, shared } = spawn;
  const { parts, task } = core;
  const { recorder } = parts;
  const input = fingerprint([children, shared ?? null]);
  const recorded = core.recorded(key, input);
  if (recorded?.kind === "failed") throw refusalIn(recorded.body);
  if (recorded !== undefined) return namesIn(recorded.body);
  let made: LiveTask[];
  try {
    if (isOverTime(recorder, task)) await core.interruptible(passTime(recorder, task, ask));
    while (isOverTasks(task, children.length)) {
      await core.interruptible(passTasks(recorder, task, children.length, ask));
    }
    core.check();
    made = addChildren(parts, task, children, () =>
      shared === undefined
        ? null
        : core.record(`${key}!shared`, { kind: "noted", body: recorder.clean(JSON.stringify(shared)) }),
    );
  } catch (thrown) {
    core.check();
    // Recorded, so that a loop that went on without the children does so after a restart too.
    const body = recorder.clean(JSON.stringify(toFailure(toTuttiError(thrown))));
    core.record(key, { kind: "failed", input, body });
    throw refusalIn(body);
  }
  const names = made.map((child) => child.name);
  core.record(key, { kind: "spawned", input, body: JSON.stringify(names) });
  await core.committed();
  for (const child of made) if (child.result === undefined) parts.launch(child);
  return names;
}

/** Not recorded: a result never changes. */
export async function joinChildren(core: RunCore, ids: readonly TaskId[]): Promise<AgentResult[]> {
  core.check();
  const results: AgentResult[] = Array.from({ length: ids.length });
  const missing: { index: number; child: LiveTask }[] = [];
  const gone: { index: number; id: TaskId }[] = [];
  ids.forEach((id, index) => {
    const child = core.parts.tasks.find(id);
    if (child === undefined) gone.push({ index, id });
    else if (ownChild(core, child).result === undefined) missing.push({ index, child });
    else if (child.result !== undefined) results[index] = child.result;
  });
  if (missing.length > 0) await resultsOf(core, missing, results);
  // A child that has just ended is gone from memory and perhaps not yet on disk.
  if (gone.length > 0) await core.committed();
  for (const { index, id } of gone) results[index] = storedResult(core, id);
  return results;
}

async function resultsOf(
  core: RunCore,
  missing: readonly { readonly index: number; readonly child: LiveTask }[],
  results: AgentResult[],
): Promise<void> {
  core.flushState();
  await core.waiting<void>((resolve) => {
    let open = missing.length;
    for (const { index, child } of missing) {
      (child.joiners ??= []).push((result) => {
        results[index] = result;
        open -= 1;
        if (open === 0) resolve();
      });
    }
    return () => undefined;
  });
}

export async function cancelChild(core: RunCore, key: string, id: TaskId): Promise<TaskId[]> {
  core.use(key);
  const recorded = core.recorded(key);
  if (recorded !== undefined) return namesIn(recorded.body);
  if (core.parts.tasks.find(id) === undefined) await core.committed();
  const child = core.parts.tasks.find(id);
  if (child === undefined) storedResult(core, id);
  const canceled =
    child === undefined ? [] : cancelTask(core.parts, ownChild(core, child), `canceled by ${core.task.name}`);
  const names = canceled.map((task) => task.name);
  core.record(key, { kind: "noted", body: JSON.stringify(names) });
  await core.committed();
  return names;
}

export async function sendMail(core: RunCore, key: string, id: TaskId, message: Message): Promise<void> {
  core.use(key);
  if (core.recorded(key) !== undefined) return;
  const { parts, task } = core;
  const child = parts.tasks.find(id);
  if (child === undefined || child.result !== undefined) {
    throw new TuttiError("conflict", `the task ${id} is over; a message cannot reach it`);
  }
  const complete = completeMessage(message, { id: `${task.name}.${key}`, now: parts.clock.now() });
  parts.store.addMail(ownChild(core, child).id, parts.recorder.clean(JSON.stringify(complete)));
  core.record(key, { kind: "noted", body: null });
  await core.committed();
  for (const wake of child.onMail ?? []) wake();
}

export async function snapshotChildren(
  core: RunCore,
  key: string,
  ids: readonly TaskId[] | "descendants",
): Promise<TaskSnapshot[]> {
  core.use(key);
  const recorded = core.recorded(key);
  if (recorded !== undefined) return z.array(TaskSnapshot).parse(JSON.parse(recorded.body ?? "[]"));
  await core.committed();
  const snapshots = snapshotsOf(core.parts, core.task, ids);
  core.record(key, { kind: "noted", body: JSON.stringify(snapshots) });
  return snapshots;
}

/** Only tasks below its own may be joined, watched, written to or canceled. */
export function ownChild(core: RunCore, task: LiveTask): LiveTask {
  for (let at = task.parent; at !== undefined; at = at.parent) if (at === core.task) return task;
  throw new TuttiError("refused", `${task.name} is not a task of ${core.task.name}`);
}

export function storedResult(core: RunCore, name: TaskId): AgentResult {
  const { store } = core.parts;
  const id = idInName(store.salt, name);
  const row = id === undefined ? undefined : store.result(id);
  if (id === undefined || row === undefined) throw new TuttiError("not_found", `there is no task ${name}`);
  for (let at = store.task(id)?.parent ?? null; at !== core.task.id; at = store.task(at)?.parent ?? null) {
    if (at === null) throw new TuttiError("refused", `${name} is not a task of ${core.task.name}`);
  }
  return resultIn(row, name);
}

function refusalIn(body: string | null): TuttiError {
  const { code, message, retry, details } = Failure.parse(JSON.parse(body ?? "null"));
  return new TuttiError(isCode(code) ? code : "refused", message, {
    retry,
    ...(details === undefined ? {} : { details }),
  });
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}

function namesIn(body: string | null): TaskId[] {
  return z.array(TaskId).parse(JSON.parse(body ?? "[]"));
}
