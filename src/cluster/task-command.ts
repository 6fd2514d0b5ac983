// What any node may ask the owner of a tree to do to one of its tasks, and what the owner answers, as they stand in the database.

import { z } from "zod";

import { type ErrorCode, errorTable, toTuttiError, TuttiError } from "../protocol/error.ts";
import { Failure, toFailure } from "../protocol/failure.ts";
import { Answerer } from "../protocol/task/ask.ts";
import { Message } from "../protocol/task/message.ts";

const ofTask = { task: z.string() };
const withReason = { ...ofTask, reason: z.string() };

export const TaskCommand = z.discriminatedUnion("do", [
  z.object({ do: z.literal("deliver"), wait: z.string(), value: z.unknown(), by: Answerer }),
  z.object({ do: z.literal("message"), ...ofTask, message: Message, admitted: z.boolean() }),
  z.object({ do: z.literal("cancel"), ...withReason }),
  z.object({ do: z.literal("kill"), ...withReason }),
  z.object({
    do: z.literal("retry"),
    ...ofTask,
    once: z.object({ key: z.string(), content: z.string() }).optional(),
  }),
  z.object({ do: z.literal("stop"), ...withReason }),
  z.object({ do: z.literal("interrupt"), ...withReason, by: Answerer }),
  z.object({ do: z.literal("resume"), ...ofTask, by: Answerer }),
  z.object({ do: z.literal("session"), ...ofTask }),
]);
export type TaskCommand = z.infer<typeof TaskCommand>;

/** What the command gave, or how it failed. */
const Outcome = z.union([z.object({ value: z.unknown() }), z.object({ failure: Failure })]);

export function recordedValue(value: unknown): string {
  return JSON.stringify({ value: value ?? null });
}

export function recordedFailure(thrown: unknown): string {
  return JSON.stringify({ failure: toFailure(toTuttiError(thrown)) });
}

/** Throws what the owner threw. */
export function valueIn(outcome: string): unknown {
  const read = Outcome.parse(JSON.parse(outcome));
  if (!("failure" in read)) return read.value;
  const { code, message, retry, details } = read.failure;
  throw new TuttiError(knownCode(code), message, { retry, ...(details === undefined ? {} : { details }) });
}

/** A newer node may have codes of its own. */
function knownCode(code: string): ErrorCode {
  const codes: readonly string[] = Object.keys(errorTable);
  const isKnown = (name: string): name is ErrorCode => codes.includes(name);
  return isKnown(code) ? code : "internal";
}
