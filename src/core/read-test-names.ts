// Reads which tests passed and which failed, by name, from the output of test runners that print names.

import type { TestCounts } from "../protocol/task/evidence.ts";

export interface TestNames {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** Whether the runner printed a name for every test that it counted, so that a name which is absent did not run. */
  readonly complete: boolean;
}

type NamedState = "passed" | "failed" | "skipped";

export interface NamedResult {
  readonly name: string;
  readonly state: NamedState;
}

const mostNames = 2_000;
const longestName = 200;
const longestLine = 600;
/** The line that stands where the middle of a long output was left out. */
const leftOut = /^\[… \d+ bytes left out …\]$/;

// oxlint-disable-next-line no-control-regex -- terminals get their colours by control characters
const escapes = /\u001b\[[0-9;:?]{0,32}[@-~]/g;

const states: ReadonlyMap<string, NamedState> = new Map([
  ...["✔", "✓", "√", "ok", "PASS", "PASSED", "pass"].map((word): [string, NamedState] => [word, "passed"]),
  ...["✖", "✗", "×", "✕", "not ok", "FAIL", "FAILED", "ERROR", "fail"].map((word): [string, NamedState] => [
    word,
    "failed",
  ]),
  ...["﹣", "↓", "○", "SKIP", "SKIPPED", "skip", "ignored", "skipped", "expected failure", "XFAIL"].map(
    (word): [string, NamedState] => [word, "skipped"],
  ),
]);

interface NamePattern {
  readonly pattern: RegExp;
  /** Which groups hold the state and the name. */
  readonly state: number;
  readonly name: number;
}

/** Every pattern is linear in the line, which is short. */
const patterns: readonly NamePattern[] = [
  // node:test, vitest, jest and mocha, with the time that it took.
  {
    pattern: /^\s{0,40}([✔✓√✖✗×✕﹣↓○]) (.+?)(?: \(?\d[\d.]{0,12} ?m?s\)?)?(?: # (?:SKIP|TODO).*)?$/,
    state: 1,
    name: 2,
  },
  { pattern: /^ {0,40}(ok|not ok) \d{1,9}(?: -)? (.+?)(?: # (?:SKIP|TODO|time).*)?$/i, state: 1, name: 2 },
  // pytest, as a list at the end or line by line.
  { pattern: /^(PASSED|FAILED|ERROR|XFAIL) (\S+?\.py::.+?)(?: - .*)?$/, state: 1, name: 2 },
  { pattern: /^(\S+?\.py::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL)(?: .{0,80})?$/, state: 2, name: 1 },
  // unittest
  { pattern: /^(\w+ \([\w.<>]+\)) \.\.\. (ok|FAIL|ERROR|skipped|expected failure)\b/, state: 2, name: 1 },
  { pattern: /^(FAIL|ERROR): (\w+ \([\w.<>]+\))/, state: 1, name: 2 },
  { pattern: /^ {0,40}--- (PASS|FAIL|SKIP): (\S+) \(/, state: 1, name: 2 },
  { pattern: /^test (\S.{0,300}?) \.\.\. (ok|FAILED|ignored)/, state: 2, name: 1 },
];

/** mocha numbers what failed, jest and vitest list it once more with the names of its suites. */
const numbered = /^\s{2,40}\d{1,4}\) (.+)$/;
const listed = /^ {1,4}(?:●|FAIL|×) {1,2}(.+?)$/;
const goEvent = /^\{.{0,300}"Action":"(pass|fail|skip)".{0,300}"Test":"([^"]{1,200})"/;
/** A file or a suite of tests is no test, and neither is a heading. */
const noTest = /^(?:\S+\.(?:[cm]?[jt]sx?|py)(?: [([].*)?|failing tests:|Test suite failed to run|.*_FailedTest.*)$/;

/** Every result by name, in the order of the output, more than once where the runner tells it twice. */
export function* namedResults(output: string): Generator<NamedResult> {
  for (let from = 0; from <= output.length;) {
    const end = output.indexOf("\n", from);
    const to = end === -1 ? output.length : end;
    const line = output
      .slice(from, Math.min(to, from + longestLine))
      .replaceAll(escapes, "")
      .trimEnd();
    from = to + 1;
    const result = readLine(line);
    if (result !== undefined && !noTest.test(result.name)) yield result;
  }
}

function readLine(line: string): NamedResult | undefined {
  for (const { pattern, state, name } of patterns) {
    const match = pattern.exec(line);
    if (match === null) continue;
    const isSkipped = /# (?:SKIP|TODO)/i.test(line);
    const word = match[state] ?? "";
    const found = isSkipped ? "skipped" : (states.get(word) ?? states.get(word.toLowerCase()));
    if (found !== undefined) return { name: (match[name] ?? "").trim(), state: found };
  }
  const event = goEvent.exec(line);
  const state = event === null ? undefined : states.get(event[1] ?? "");
  if (state !== undefined) return { name: event?.[2] ?? "", state };
  const failed = numbered.exec(line) ?? listed.exec(line);
  return failed === null ? undefined : { name: (failed[1] ?? "").trim(), state: "failed" };
}

/** Undefined when the output names no test. A name that failed once did not pass. */
export function readTestNames(output: string, counts: TestCounts | null): TestNames | undefined {
  const found = new Map<string, NamedState>();
  let told = 0;
  let isCut = output.split("\n").some((line) => leftOut.test(line));
  for (const { name, state } of namedResults(output)) {
    told += 1;
    const short = name.slice(0, longestName).toWellFormed();
    const before = found.get(short);
    if (before === undefined && found.size >= mostNames) isCut = true;
    else if (before !== "failed") found.set(short, state === "skipped" ? (before ?? state) : state);
  }
  if (told === 0) return undefined;
  const total = counts === null ? 0 : counts.passed + counts.failed + counts.skipped;
  const of = (state: NamedState): string[] => [...found].flatMap(([name, is]) => (is === state ? [name] : []));
  return { passed: of("passed"), failed: of("failed"), complete: !isCut && total > 0 && told >= total };
}

/** What a name has only in one run: a port, a temporary folder, an id. */
function plain(name: string): string {
  return name.replaceAll(/\d{3,}|[0-9a-f]{8,}/gi, "#");
}

/**
 * Tests that the base reports and the work does not, and tests that failed on the base and are not reported as passed. Empty
 * where one of the two runs does not print every name.
 */
export function missingTests(base: TestNames | undefined, now: TestNames | undefined): string[] {
  if (base === undefined || now === undefined || !base.complete || !now.complete) return [];
  const passed = new Set(now.passed.map(plain));
  const reported = new Set([...now.passed, ...now.failed].map(plain));
  return [
    ...base.failed.filter((name) => !passed.has(plain(name))),
    ...base.passed.filter((name) => !reported.has(plain(name))),
  ];
}
