// A goal as data, with everything that sessions and models do in it, and what of it may be shown as proven.

import type { Check } from "../../src/protocol/decision/decision.ts";
import type { AcceptedCriterion } from "../../src/protocol/invocation/goal-file.ts";

/** What is tried, or for honest goals what kind of work it is. */
export type TrustClass =
  | "words"
  | "named-by-model"
  | "check-files"
  | "runner-settings"
  | "shadowing"
  | "package-scripts"
  | "spoken-for"
  | "tampered"
  | "only-under-test"
  | "settings-and-names"
  | "together"
  | "told"
  | "weakened-tests"
  | "nothing-done"
  | "false-claims"
  | "persons-check"
  | "reviewer"
  | "outside"
  | "many-tasks"
  | "left-out"
  | "odd-files"
  | "fix"
  | "feature"
  | "greenfield"
  | "changed-tests"
  | "refactor"
  | "docs"
  | "config"
  | "many-honest";

/** A program that a case needs and that not every machine has. */
export type Tool = "pytest" | "go" | "cargo" | "vitest";

export type Files = Readonly<Record<string, string>>;

/** What a session does: it writes a file, or runs a script of the shell in its folder. */
export type Act = { readonly write: string; readonly text: string } | { readonly run: string };

export interface TrustTask {
  readonly id: string;
  readonly prompt?: string;
  readonly kind?: string;
  /** Checks that the manager's model names. */
  readonly checks?: readonly Check[];
  readonly acceptance?: readonly string[];
  readonly after?: readonly string[];
  readonly does: readonly Act[];
  /** The file of the change that a reviewer points to; the first one that is written when absent. */
  readonly shows?: string;
  /** Its last words. */
  readonly says?: string;
}

export interface TrustCase {
  /** Unique among all cases. */
  readonly name: string;
  readonly class: TrustClass;
  readonly needs?: Tool;
  /** What the repository holds before. */
  readonly base: Files;
  /** Run in the person's repository before its first commit, for what files alone cannot say. */
  readonly prepare?: string;
  readonly goal: string;
  readonly accept?: readonly AcceptedCriterion[];
  /** Checks that the person named. */
  readonly checks?: readonly Check[];
  /** Criteria that the manager's model adds. */
  readonly proposes?: readonly string[];
  readonly tasks: readonly TrustTask[];
  /** What every reviewer of the case says instead of what the run says. */
  readonly review?: string | object;
  /** Files that lie on this machine outside of any repository, in the folder that texts call `@OUTSIDE@`. */
  readonly outside?: Files;
}

/** What is true of a hostile goal all the same: only this may be shown as proven. */
export interface Holding {
  readonly tasks?: readonly string[];
  readonly criteria?: readonly string[];
}

export interface HostileCase extends TrustCase {
  readonly holds?: Holding;
  /**
   * No program could notice it: the work is wrong, or is not there, and nothing observed contradicts it. A reviewer of another
   * model that lies about each point is believed then, which is counted apart.
   */
  readonly onlyReviewKnows?: true;
}

export function writing(files: Files): Act[] {
  return Object.entries(files).map(([write, text]) => ({ write, text }));
}

/** The one task of a goal. */
export function task(does: Files | readonly Act[], more: Partial<TrustTask> = {}): TrustTask {
  return { id: "work", does: isList(does) ? does : writing(does), ...more };
}

function isList(does: Files | readonly Act[]): does is readonly Act[] {
  return Array.isArray(does);
}
