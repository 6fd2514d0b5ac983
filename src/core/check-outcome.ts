// What the runs of a check say: one run, the same run once more, the run on the base, and the run with the base's tests.

import type { CheckFact, CheckOutcome, SuspectLine, TestCounts } from "../protocol/task/evidence.ts";
import { escapeControls } from "./escape-controls.ts";
import { missingTests, readTestNames, type TestNames } from "./read-test-names.ts";
import { readTestOutput } from "./read-test-output.ts";

/** How a program ended that Tutti started, or why it was not started. */
export type ProgramOutcome =
  | {
      readonly ran: true;
      /** Null when a signal ended it. */
      readonly exit_code: number | null;
      readonly signal: string | null;
      readonly timed_out: boolean;
      /** Of a long output its beginning and its end. */
      readonly stdout: string;
      readonly stderr: string;
      readonly duration_ms: number;
    }
  | { readonly ran: false; readonly reason: string };

export interface CheckRun extends Pick<
  CheckFact,
  "outcome" | "exit_code" | "duration_ms" | "output_tail" | "tests" | "reason"
> {
  /** The tests that the output names. */
  readonly names?: TestNames | undefined;
}

/** So many characters of the output are kept with the fact. */
const tailLength = 8_000;

/** An exit status of 0 is a pass, unless the output of a test runner says otherwise. Nothing makes another status a pass. */
export function judgeRun(ended: ProgramOutcome): CheckRun {
  if (!ended.ran) return notRun(ended.reason);
  const { exit_code, signal, timed_out, duration_ms } = ended;
  const output = outputOf(ended);
  const tests = readTestOutput(output) ?? null;
  const names = readTestNames(output, tests);
  const kept = {
    exit_code,
    duration_ms,
    output_tail: tailOf(output),
    tests,
    ...(names === undefined ? {} : { names }),
  };
  if (timed_out) return { ...kept, exit_code: null, outcome: "timed_out", reason: "It did not end in time." };
  if (exit_code === null) return { ...kept, outcome: "failed", reason: `It was ended by ${signal ?? "a signal"}.` };
  if (exit_code !== 0) {
    return { ...kept, outcome: "failed", reason: `It ended with exit status ${exit_code}${told(tests)}.` };
  }
  if (tests !== null && tests.failed > 0) {
    return {
      ...kept,
      outcome: "failed",
      reason: `It ended with exit status 0, but its output says: ${counts(tests)}.`,
    };
  }
  if (tests !== null && tests.passed === 0) {
    return { ...kept, outcome: "failed", reason: "It ended with exit status 0, but its output says that no test ran." };
  }
  return { ...kept, outcome: "passed", reason: `It ended with exit status 0${told(tests)}.` };
}

export function outputOf({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  return stderr === "" ? stdout : `${stdout}\n${stderr}`;
}

/** A check that cannot be run proves nothing. */
export function notRun(reason: string): CheckRun {
  return { outcome: "not_run", exit_code: null, duration_ms: 0, output_tail: "", tests: null, reason };
}

/** The check failed and was run once more, from the same files: two different outcomes prove nothing. */
export function compareRuns(first: CheckRun, again: CheckRun): CheckRun {
  if (again.outcome !== "passed") return first;
  return { ...first, outcome: "flaky", reason: `It failed and then passed on the same files. ${first.reason}` };
}

export interface CheckRuns {
  readonly check: Pick<CheckFact, "argv" | "cwd" | "named_by">;
  /** On the commit of the attempt. */
  readonly run: CheckRun;
  readonly base: CheckRun | undefined;
  /** Files of the check itself that the session changed. */
  readonly changedFiles: readonly string[];
  /** On the commit of the attempt, with the base's version of those files. */
  readonly withBaseFiles: CheckRun | undefined;
  /** On the base, with only the files of the check that the session changed or added. */
  readonly withoutWork?: CheckRun | undefined;
  readonly canary?: CheckFact["canary"];
  readonly suspect?: readonly SuspectLine[];
  /** What a reader has to know of how these files were found; empty for nothing. */
  readonly note?: string | undefined;
}

/** So many names of missing tests are kept. */
const mostMissing = 50;

export function checkFact(runs: CheckRuns): CheckFact {
  const { check, run: ran, base, changedFiles, withBaseFiles, withoutWork, canary, suspect = [], note = "" } = runs;
  const { names, ...run } = ran;
  // A session that makes a check impossible to run must not be better off than one that makes it fail.
  const isBroken = run.outcome === "not_run" && base !== undefined && base.outcome !== "not_run";
  const outcome = isBroken ? "failed" : run.outcome;
  const missing = outcome === "passed" ? missingTests(base?.names, names).slice(0, mostMissing) : [];
  return {
    kind: "check",
    ...check,
    ...run,
    outcome,
    on_base: base?.outcome ?? null,
    base_tests: base?.tests ?? null,
    changed_check_files: [...changedFiles],
    with_base_files: withBaseFiles?.outcome ?? null,
    ...(withoutWork === undefined ? {} : { without_work: withoutWork.outcome }),
    ...(canary === undefined ? {} : { canary }),
    ...(missing.length === 0 ? {} : { missing_tests: missing }),
    ...(suspect.length === 0 ? {} : { suspect: [...suspect] }),
    reason: [
      isBroken ? `It could be run on the base and cannot be run any more: ${run.reason}` : run.reason,
      ...baseSentence(outcome, base),
      ...ownFilesSentence(outcome, changedFiles, withBaseFiles),
      ...(note === "" || changedFiles.length === 0 ? [] : [note]),
    ].join(" "),
  };
}

/** Files that the check is run with and that are in no commit: what they were on the base is not known any more. */
export function withChangedPrograms(fact: CheckFact, files: readonly string[]): CheckFact {
  if (files.length === 0 || fact.outcome !== "passed") return fact;
  const [first = "", ...more] = files;
  const named = `${escapeControls(first)}${more.length === 0 ? "" : ` and ${more.length} more`}`;
  const why = `Sessions work in a folder that the PATH takes programs from, and files of it are newer than the first of them (${named}), so these may be what passed.`;
  return {
    ...fact,
    changed_check_files: [...fact.changed_check_files, ...files],
    with_base_files: "not_run",
    reason: `${fact.reason} ${why}`,
  };
}

function baseSentence(outcome: CheckOutcome, base: CheckRun | undefined): string[] {
  if (base === undefined) return [];
  if (base.outcome === "not_run") return [`It could not be run on the base: ${base.reason}`];
  if (base.outcome === "flaky") return ["On the base it both failed and passed."];
  const was = base.outcome === "passed" ? "passed" : "failed";
  if (outcome === "passed") {
    return [was === "passed" ? "It passed on the base as well, so it still holds." : "It failed on the base."];
  }
  return [was === "passed" ? "It passed on the base." : `It failed on the base as well${told(base.tests)}.`];
}

function ownFilesSentence(outcome: CheckOutcome, files: readonly string[], withBase: CheckRun | undefined): string[] {
  if (files.length === 0) return [];
  const shown = files.slice(0, 5).join(", ");
  const named = files.length > 5 ? `${shown} and ${files.length - 5} more` : shown;
  const changed = `The session changed files of the check itself (${named})`;
  if (withBase === undefined) return [`${changed}.`];
  if (withBase.outcome === "passed") return [`${changed}; it passes with the base's version of them, too.`];
  const only = outcome === "passed" ? "passes only with the session's version of them" : "does not pass either way";
  return [`${changed}, and it ${only}. With the base's version: ${withBase.reason}`];
}

/** What the tests of the attempt lack in comparison with the base, each a sentence. */
export function weakenedTests({
  tests,
  base_tests,
  missing_tests = [],
}: Pick<CheckFact, "tests" | "base_tests" | "missing_tests">): string[] {
  if (base_tests === null || base_tests === undefined) return [];
  const [before, now] = [total(base_tests), tests === null ? 0 : total(tests)];
  if (before === 0) return [];
  if (tests === null) return [`The output names no tests any more; on the base it named ${before}.`];
  const named = missing_tests.slice(0, 5).map((name) => JSON.stringify(name));
  return [
    ...(now < before ? [`There are fewer tests than on the base: ${now} instead of ${before}.`] : []),
    ...(tests.skipped > base_tests.skipped
      ? [`More tests are skipped than on the base: ${tests.skipped} instead of ${base_tests.skipped}.`]
      : []),
    ...(named.length === 0 ? [] : [`Tests of the base did not run: ${named.join(", ")}.`]),
  ];
}

function total({ passed, failed, skipped }: TestCounts): number {
  return passed + failed + skipped;
}

function counts({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

function told(tests: TestCounts | null): string {
  return tests === null ? "" : ` (${counts(tests)})`;
}

function tailOf(output: string): string {
  const tail = output.length <= tailLength ? output : `…${output.slice(1 - tailLength)}`;
  return escapeControls(tail.toWellFormed());
}
