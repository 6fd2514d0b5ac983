// Whether a run reported the tests that Tutti put into it as what they are.

import type { TestCounts } from "../protocol/task/evidence.ts";
import type { CanaryIds } from "./canary-tests.ts";
import { namedResults } from "./read-test-names.ts";

/** What a run with canaries in it said. */
export interface CanaryReport {
  /** By id, without the prefix that the language needed. */
  readonly states: ReadonlyMap<string, "passed" | "failed">;
  readonly failed: boolean;
  readonly tests: TestCounts | null;
}

const id = /z[0-9a-f]{16}/gi;

export function readCanaries(output: string, run: Pick<CanaryReport, "failed" | "tests">): CanaryReport {
  const states = new Map<string, "passed" | "failed">();
  for (const { name, state } of namedResults(output)) {
    if (state === "skipped") continue;
    for (const [found] of name.matchAll(id)) {
      const key = found.toLowerCase();
      if (states.get(key) !== "failed") states.set(key, state);
    }
  }
  return { ...run, states };
}

/** The ids that a run without the work's code reported as they must be: what the check loads, and how its runner tells it. */
export interface Expected {
  readonly failing: readonly string[];
  readonly passing: readonly string[];
  /** Where what passes is not told by name: so many more tests must have been counted. */
  readonly more: { readonly passed: number; readonly failed: number } | undefined;
}

export type Calibration =
  | { readonly kind: "expected"; readonly expected: Expected }
  /** Nothing was reported: the check loads none of the files, or tells no names. */
  | { readonly kind: "silent" }
  /** Already without the work, what must fail is not reported as failed. */
  | { readonly kind: "false" };

export function calibrate(files: readonly CanaryIds[], report: CanaryReport): Calibration {
  const failing: string[] = [];
  const passing: string[] = [];
  let loaded = 0;
  for (const { asserts, throws, passes } of files) {
    const found = [asserts, throws].filter((each) => report.states.get(each) === "failed");
    if ([asserts, throws].some((each) => report.states.get(each) === "passed")) return { kind: "false" };
    if (report.states.get(passes) === "failed") return { kind: "false" };
    if (report.states.get(passes) === "passed") passing.push(passes);
    if (found.length > 0) loaded += 1;
    failing.push(...found);
  }
  if (failing.length === 0) return { kind: "silent" };
  if (!report.failed) return { kind: "false" };
  const { tests } = report;
  const isCounted =
    passing.length === 0 && failing.length === 2 * loaded && tests?.passed === loaded && tests.failed === 2 * loaded;
  // A runner that tells nothing of what passes shows too little.
  if (passing.length === 0 && !isCounted) return { kind: "silent" };
  const more = isCounted ? { passed: loaded, failed: 2 * loaded } : undefined;
  return { kind: "expected", expected: { failing, passing, more } };
}

/** `plain`: what was counted in the run without canaries. */
export function isHeld(expected: Expected, report: CanaryReport, plain: TestCounts | null): boolean {
  const { states, failed, tests } = report;
  if (!failed || expected.failing.length === 0) return false;
  if (!expected.failing.every((each) => states.get(each) === "failed")) return false;
  if (!expected.passing.every((each) => states.get(each) === "passed")) return false;
  if (expected.more === undefined) return true;
  if (plain === null) return false;
  return tests?.passed === plain.passed + expected.more.passed && tests.failed === plain.failed + expected.more.failed;
}

/** What all of the files must give when the check loads every one. */
export function expectedOfAll(files: readonly CanaryIds[], report: CanaryReport): Expected {
  const isNamed = files.some(({ passes }) => report.states.has(passes));
  return {
    failing: files.flatMap(({ asserts, throws }) => [asserts, throws]),
    passing: isNamed ? files.map(({ passes }) => passes) : [],
    more: isNamed ? undefined : { passed: files.length, failed: 2 * files.length },
  };
}
