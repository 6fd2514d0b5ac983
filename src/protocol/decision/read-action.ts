// Turns one action object into a decision, and reports what could not be used.
import { z } from "zod";

import { DoWork, GoalAcceptance, Respond, TaskSpec } from "./decision.ts";
import type { Decision, Dropped } from "./decision.ts";
import { droppedList } from "./dropped-list.ts";
import type { DroppedList } from "./dropped-list.ts";
import type { ActionObject } from "./find-actions.ts";
import { describeIssues, issuesOf } from "../lenient-read.ts";

export interface ActionReading {
  /** The decision without malformed tasks; null if nothing is left. */
  readonly decision: Decision | null;
  /** The object is a valid decision, and nothing had to be removed. */
  readonly whole: boolean;
  /** Why it is not whole: malformed tasks, or a fault of its own. Called on demand: wording a fault costs more than finding it. */
  readonly faults: () => readonly Dropped[];
  /** Optional fields of a wrong type; their task stays. */
  readonly fields: readonly Dropped[];
}

export function readAction(text: string, action: ActionObject): ActionReading {
  if (action.ambiguous) return unusable(action, () => "an object names a key twice, and which value counts is unclear");
  const value: unknown = JSON.parse(text.slice(action.start, action.end));
  switch (action.name) {
    case "delegate":
      return readDelegate(action, value);
    case "respond":
      return readSimple(action, Respond.safeParse(value));
    case "do_work":
      return readSimple(action, DoWork.safeParse(value));
  }
}

/** How an action is named where it is listed; characters are counted in the trimmed reply. */
export function nameOf(action: { readonly name: string; readonly start: number }): string {
  return `action ${action.name} at character ${action.start}`;
}

function unusable(action: ActionObject, reason: () => string): ActionReading {
  return { decision: null, whole: false, faults: () => [{ what: nameOf(action), reason: reason() }], fields: [] };
}

function readSimple(action: ActionObject, result: z.ZodSafeParseResult<Decision>): ActionReading {
  if (!result.success) return unusable(action, () => reasonOf(result.error));
  return { decision: result.data, whole: true, faults: () => [], fields: [] };
}

const RawDelegate = z.object({ tasks: z.array(z.unknown()).default([]), acceptance: z.unknown().optional() });

/** A task is malformed if one of these is; a fault in another field costs that field only. */
const TaskCore = TaskSpec.pick({ workdir: true, prompt: true, model: true });

function readDelegate(action: ActionObject, value: unknown): ActionReading {
  const raw = RawDelegate.safeParse(value);
  if (!raw.success) return unusable(action, () => reasonOf(raw.error));
  const tasks: TaskSpec[] = [];
  const faults = droppedList("malformed tasks");
  const fields = droppedList("fields");
  raw.data.tasks.forEach((given, index) => {
    const task = withNames(given);
    const core = TaskCore.safeParse(task);
    if (core.success) {
      if (task !== given)
        fields.add(() => ({ what: `tasks[${index}]`, reason: "it names no fields; it was read in their order" }));
      tasks.push(readTask(task, `tasks[${index}]`, fields));
    } else faults.add(() => ({ what: `tasks[${index}]`, reason: reasonOf(core.error) }));
  });
  const whole = tasks.length === raw.data.tasks.length;
  const acceptance = readAcceptance(raw.data.acceptance, fields);
  const decision = whole || tasks.length > 0 ? ({ action: "delegate", tasks, ...acceptance } as const) : null;
  return { decision, whole, faults: () => faults.entries(), fields: fields.entries() };
}

const coreNames = Object.keys(TaskCore.shape);

/** A task may be an array of its first fields, in their order. */
function withNames(given: unknown): unknown {
  if (!Array.isArray(given) || given.length > coreNames.length) return given;
  return Object.fromEntries(coreNames.slice(0, given.length).map((name, at): [string, unknown] => [name, given[at]]));
}

function readAcceptance(given: unknown, dropped: DroppedList): { acceptance?: string[] } {
  // Null in an optional field means the same as leaving it out, so nothing is reported.
  if (given === undefined || given === null) return {};
  const read = GoalAcceptance.safeParse(given);
  if (read.success) return { acceptance: read.data };
  dropped.add(() => ({ what: "acceptance", reason: reasonOf(read.error) }));
  return {};
}

const AnyObject = z.looseObject({});
const taskFields = new Map<string, z.ZodType>(Object.entries(TaskSpec.shape));

function readTask(value: unknown, what: string, dropped: DroppedList): TaskSpec {
  const all = TaskSpec.safeParse(value);
  if (all.success) return all.data;
  const kept: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(AnyObject.parse(value))) {
    const field = taskFields.get(name);
    // Null in an optional field means the same as leaving it out, so nothing is reported.
    if (field === undefined || given === null) continue;
    const read = field.safeParse(given);
    if (read.success) kept[name] = given;
    else dropped.add(() => ({ what: `${what}.${name}`, reason: reasonOf(read.error) }));
  }
  return TaskSpec.parse(kept);
}

function reasonOf(error: z.ZodError): string {
  return describeIssues(issuesOf(error));
}
