// The ids of Tutti's own records: plain strings with a prefix that says what they name, safe in URLs and file names.

import { z } from "zod";

/** After the prefix come letters, digits, `.`, `_` and `-`, but no `.` or `-` first. A child's id may extend its parent's. */
function idOf(prefix: string): z.ZodString {
  return z
    .string()
    .max(200)
    .regex(new RegExp(`^${prefix}_[A-Za-z0-9_][A-Za-z0-9._-]*$`), `must be an id that begins with ${prefix}_`);
}

export const TaskId = idOf("tsk");
export type TaskId = z.infer<typeof TaskId>;

export const GoalId = idOf("gol");
export type GoalId = z.infer<typeof GoalId>;

export const AskId = idOf("ask");
export type AskId = z.infer<typeof AskId>;

export const ThreadId = idOf("thr");
export type ThreadId = z.infer<typeof ThreadId>;

export const EvidenceId = idOf("evd");
export type EvidenceId = z.infer<typeof EvidenceId>;

/** Milliseconds since 1970, as every time on the wire and in the store. */
export const Time = z.int().meta({ description: "milliseconds since 1970-01-01T00:00:00Z" });
export type Time = z.infer<typeof Time>;
