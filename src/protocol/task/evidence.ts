// Facts that support or contradict a claim: only what Tutti observed itself; what a session prints is no evidence.

import { z } from "zod";
import { EvidenceId, TaskId, Time } from "../ids.ts";
import { Ordinal } from "./task.ts";

const CheckOutcome = z.enum(["passed", "failed", "timed_out", "flaky", "not_run"]);
export type CheckOutcome = z.infer<typeof CheckOutcome>;

const TestCounts = z.strictObject({
  runner: z.string(),
  passed: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  skipped: z.int().nonnegative(),
});
export type TestCounts = z.infer<typeof TestCounts>;

/** An added line with which code under test could decide what a check says: it ends the process, replaces an assertion, … */
const SuspectLine = z.strictObject({
  path: z.string().min(1),
  line: z.int().positive(),
  text: z.string(),
  /** What it does, such as `ends the process`. */
  why: z.string().min(1),
});
export type SuspectLine = z.infer<typeof SuspectLine>;

/** A command Tutti ran after the session ended, in a fresh checkout of the attempt's commit. */
const CheckFact = z.strictObject({
  kind: z.literal("check"),
  argv: z.array(z.string()).min(1),
  /** Relative to the top of the checkout. */
  cwd: z.string(),
  /** Who named the check. One that a model named runs only after an approval. */
  named_by: z.enum(["config", "person", "model"]),
  outcome: CheckOutcome,
  /** Null when it was ended by a signal or the time limit, or did not run. */
  exit_code: z.int().nullable(),
  duration_ms: z.int().nonnegative(),
  output_tail: z.string(),
  /** What the output of a test runner that is known says. It can turn a pass into a failure, never the reverse. */
  tests: TestCounts.nullable(),
  /** The same check on the base; null when it was not run there. */
  on_base: CheckOutcome.nullable(),
  /** The tests that ran there, so that a test which was deleted or skipped is noticed. */
  base_tests: TestCounts.nullable().optional(),
  /** Files of the check itself that the session changed, and the outcome with the base's version of them. */
  changed_check_files: z.array(z.string()),
  with_base_files: CheckOutcome.nullable(),
  /** The outcome without the work: on the base with only the tests that the session changed; null when that is the base itself. */
  without_work: CheckOutcome.nullable().optional(),
  /** Whether tests of Tutti's own in the same run were reported as what they are; `none` where the program takes no such tests. */
  canary: z.enum(["held", "spoken_for", "none"]).optional(),
  /** Names of tests that the base reports and the work does not. */
  missing_tests: z.array(z.string()).optional(),
  /** Added lines with which code under test could speak for the check. */
  suspect: z.array(SuspectLine).optional(),
  /** Why the outcome is what it is, in a sentence. */
  reason: z.string(),
});

export type CheckFact = z.infer<typeof CheckFact>;

/** What git says of the workspace: the commit it stands on and what changed since the attempt began. */
const GitFact = z.strictObject({
  kind: z.literal("git"),
  base: z.string().min(1),
  head: z.string().min(1),
  clean: z.boolean(),
  /** Paths; not all of them when there are very many. */
  changed: z.array(z.string().min(1)),
  changed_count: z.int().nonnegative().optional(),
  commits: z.int().nonnegative().optional(),
});

/** A file as it was found. */
const FileFact = z.strictObject({
  kind: z.literal("file"),
  path: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.int().nonnegative(),
});

/** What a reviewer says of one point that it was asked to judge. */
const ReviewedPoint = z.strictObject({
  id: z.string().min(1),
  met: z.boolean(),
  why: z.string(),
  /** A file of the change. */
  where: z.string(),
});
export type ReviewedPoint = z.infer<typeof ReviewedPoint>;

/** A verdict given by a reviewer in a task of its own. */
const ReviewFact = z.strictObject({
  kind: z.literal("review"),
  reviewer: TaskId,
  gate: z.enum(["approve", "revise", "escalate"]),
  /** The reviewer's model. A review by the author's own model proves nothing alone. */
  model: z.string(),
  same_model: z.boolean(),
  conf: z.number().min(0).max(1),
  findings: z.array(z.string()),
  /** The points with a reason and a place in the change. */
  points: z.array(ReviewedPoint).optional(),
  /** Whether every point of the task itself is among them. An approval without that is a nod, and proves nothing. */
  grounded: z.boolean().optional(),
  /** It calls a statement about the change true that Tutti made up. */
  fooled: z.boolean().optional(),
});

/** A pull request that was looked up after the session named it. */
const PrFact = z.strictObject({
  kind: z.literal("pr"),
  url: z.string().min(1),
  exists: z.boolean(),
  state: z.string().nullable(),
  head: z.string().nullable(),
});

/** A person's recorded word. */
const PersonFact = z.strictObject({ kind: z.literal("person"), by: z.string().min(1), text: z.string() });

export const EvidenceFact = z.discriminatedUnion("kind", [
  CheckFact,
  GitFact,
  FileFact,
  ReviewFact,
  PrFact,
  PersonFact,
]);
export type EvidenceFact = z.infer<typeof EvidenceFact>;

export const Evidence = z.strictObject({
  id: EvidenceId,
  /** The task and attempt it speaks of. */
  task: TaskId,
  attempt: Ordinal,
  /** Who observed it: `tutti`, a reviewer's task, or a person. */
  source: z.string().min(1),
  /** The commit and tree it was observed on. Without git, the tree is the hash of the snapshot. */
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  /** One fact against a claim outweighs any number for it (invariant 12). A flaky check proves `nothing`. */
  verdict: z.enum(["supports", "contradicts", "nothing"]),
  /** The part of the output that a person should read. */
  excerpt: z.string(),
  /** Acceptance criteria of the goal it bears on. */
  criteria: z.array(z.string().min(1)),
  fact: EvidenceFact,
  observed_at: Time,
});
export type Evidence = z.infer<typeof Evidence>;
