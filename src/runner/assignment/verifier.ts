// What the assignment needs of verification: the checks of an attempt, run by Tutti after its session ended.

import type { RunningStep } from "../../ports.ts";
import type { EvidenceFact } from "../../protocol/task/evidence.ts";
import type { NamedCheck } from "../../protocol/task/named-check.ts";
import type { Effort } from "./session-effort.ts";

export interface VerifyRequest {
  readonly task: string;
  readonly attempt: number;
  /** The workspace that the session worked in; null when it had none. */
  readonly workspace: string | null;
  /** What the session left there. */
  readonly commit: string | null;
  /** How many files it left with work that is in no commit. */
  readonly uncommitted: number;
  /** What the work of all attempts began with. */
  readonly base: string | null;
  /** Only those that may run. Where nothing confines programs, a person has allowed each of them. */
  readonly checks: readonly NamedCheck[];
  /** The session's own words. */
  readonly claim: string;
  /** How many files the task asks to be changed; null where it says no number. */
  readonly items: number | null;
  /** What the session really did; null when the log does not tell. */
  readonly effort: Effort | null;
}

export interface VerifyOutcome {
  readonly commit: string | null;
  readonly tree: string | null;
  /** The facts of the checks come first, in their order. */
  readonly facts: readonly EvidenceFact[];
  /** What the session claimed and is not there, each a sentence. */
  readonly findings: readonly string[];
}

/** Runs as the body of a repeatable step. */
export type Verify = (request: VerifyRequest, step: RunningStep) => Promise<VerifyOutcome>;
