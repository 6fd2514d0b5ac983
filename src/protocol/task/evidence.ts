// Facts that support or contradict a claim: only what Tutti observed itself; what a session prints is no evidence.

import { z } from "zod";
import { EvidenceId, TaskId, Time } from "../ids.ts";
import { Ordinal } from "./task.ts";

/** A command Tutti ran after the session ended. */
const CheckFact = z.strictObject({
  kind: z.literal("check"),
  command: z.string().min(1),
  cwd: z.string().min(1),
  /** Null when it was ended by a signal or the time limit. */
  exit_code: z.int().nullable(),
  duration_ms: z.int().nonnegative(),
  output_tail: z.string(),
});

/** What git says of the workspace: the commit it stands on and what changed since the attempt began. */
const GitFact = z.strictObject({
  kind: z.literal("git"),
  base: z.string().min(1),
  head: z.string().min(1),
  clean: z.boolean(),
  changed: z.array(z.string().min(1)),
});

/** A file as it was found. */
const FileFact = z.strictObject({
  kind: z.literal("file"),
  path: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.int().nonnegative(),
});

/** A verdict given by a reviewer in a task of its own. */
const ReviewFact = z.strictObject({
  kind: z.literal("review"),
  reviewer: TaskId,
  gate: z.enum(["approve", "revise", "escalate"]),
  conf: z.number().min(0).max(1),
  findings: z.array(z.string()),
});

export const EvidenceFact = z.discriminatedUnion("kind", [CheckFact, GitFact, FileFact, ReviewFact]);
export type EvidenceFact = z.infer<typeof EvidenceFact>;

export const Evidence = z.strictObject({
  id: EvidenceId,
  /** The task and attempt it speaks of. */
  task: TaskId,
  attempt: Ordinal,
  /** One fact against a claim outweighs any number for it (invariant 12). */
  verdict: z.enum(["supports", "contradicts"]),
  /** Acceptance criteria of the goal it bears on. */
  criteria: z.array(z.string().min(1)),
  fact: EvidenceFact,
  observed_at: Time,
});
export type Evidence = z.infer<typeof Evidence>;
