// What is recorded with a task and with a handover, as JSON: everything a restart needs to run it.

import { z } from "zod";

import { Budget } from "../protocol/task/budget.ts";

const StoredRights = z.object({
  tools: z.union([z.literal("*"), z.array(z.string()).readonly()]),
  roots: z.array(z.string()).readonly(),
});

const TaskBody = z.object({
  input: z.unknown(),
  config: z.unknown(),
  rights: StoredRights,
  budget: Budget.partial().nullable(),
});
export type TaskBody = z.infer<typeof TaskBody>;

export function taskBodyIn(body: string): TaskBody {
  const value: unknown = JSON.parse(body);
  return isPlainBody(value) ? value : TaskBody.parse(value);
}

/** Whether it is a record without a budget of its own, as most are: `TaskBody` would return an equal value. */
function isPlainBody(value: unknown): value is TaskBody {
  if (!hasFields(value, ["input", "config", "rights", "budget"]) || value["budget"] !== null) return false;
  const { rights } = value;
  if (!hasFields(rights, ["tools", "roots"])) return false;
  return (rights["tools"] === "*" || areTexts(rights["tools"])) && areTexts(rights["roots"]);
}

function hasFields(value: unknown, fields: readonly string[]): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  let count = 0;
  for (const key in value) {
    if (key !== fields[count]) return false;
    count += 1;
  }
  return count === fields.length;
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Without `input` or `runner`, those of the task hold. */
const RunBody = z.object({
  agent: z.string(),
  input: z.unknown().optional(),
  rights: StoredRights,
  runner: z.object({ kind: z.string(), config: z.unknown() }).optional(),
  /** The first of the attempts that were stopped and resumed, up to this one; absent when the attempt began anew. */
  since: z.int().optional(),
  /** The row of the run that was stopped. */
  stopped: z.int().optional(),
});
export type RunBody = z.infer<typeof RunBody>;

/** Null in the first run of an attempt that starts from the task's own input and runner. */
export function runBodyIn(body: string | null): RunBody | null {
  return body === null ? null : RunBody.parse(JSON.parse(body));
}
