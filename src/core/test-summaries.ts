// The lines by which test runners tell their results, each read by a pattern whose time is linear in the line.

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface RunnerTally extends Partial<Tally> {
  readonly runner: string;
}

interface Summary {
  readonly runner: string;
  readonly pattern: RegExp;
  /** Gets what the groups of the pattern matched. */
  readonly read: (...groups: readonly string[]) => Partial<Tally>;
}

const number = (text = "0"): number => Number(text) || 0;
const nothing = (): Partial<Tally> => ({});

const meanings: ReadonlyMap<string, keyof Tally> = new Map([
  ...["pass", "passed", "passing", "xpassed"].map((word) => [word, "passed"] as const),
  ...["fail", "failed", "failing", "failures", "failure", "error", "errors", "cancelled", "flaky"].map(
    (word) => [word, "failed"] as const,
  ),
  ...["skip", "skipped", "pending", "todo", "ignored", "xfailed"].map((word) => [word, "skipped"] as const),
]);

/** Adds up a list such as "3 passed, 2 failed" or "3 passed | 2 failed". */
function listed(list = ""): Tally {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const [, amount, word = ""] of list.matchAll(/(\d{1,9}) {1,2}([a-z]{1,12})/g)) {
    const key = meanings.get(word);
    if (key !== undefined) tally[key] += number(amount);
  }
  return tally;
}

/** Adds up a list such as "Failures: 1, Errors: 2" or "failures=1, errors=2". */
function labelled(list = ""): Tally {
  const turned = list.toLowerCase().replaceAll(/([a-z]{1,12})(?:: {0,10}|=)(\d{1,9})/g, "$2 $1");
  return listed(turned);
}

/** The rest of so many tests passed. */
function outOf(total: string | undefined, tally: Tally): Tally {
  return { ...tally, passed: number(total) - tally.failed - tally.skipped };
}

/** Files or packages as a whole. They count where no single test is known to have failed. */
export const whole = " files";

/** Most are anchored at the beginning of a line, because the output of other programs inside of a test is often indented. */
const summaries: readonly Summary[] = [
  {
    runner: "node:test",
    pattern: /^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) {1,2}(\d{1,9})$/,
    read: (word, amount) => listed(`${amount} ${word}`),
  },
  { runner: "tap", pattern: /^ok \d{1,9}\b(?!.*# (?:skip|todo))/i, read: () => ({ passed: 1 }) },
  { runner: "tap", pattern: /^(?:not )?ok \d{1,9}\b.*# (?:skip|todo)/i, read: () => ({ skipped: 1 }) },
  { runner: "tap", pattern: /^not ok \d{1,9}\b(?!.*# (?:skip|todo))/i, read: () => ({ failed: 1 }) },
  { runner: "tap", pattern: /^1\.\.0\b/, read: nothing },
  { runner: "jest", pattern: /^Tests: {1,20}(\d[\w ,]{0,200}) total$/, read: listed },
  { runner: `jest${whole}`, pattern: /^Test Suites: {1,20}(\d[\w ,]{0,200}) total$/, read: listed },
  { runner: "jest", pattern: /^No tests found/, read: nothing },
  { runner: "vitest", pattern: /^ {1,12}Tests {2}(\d[\w |]{0,200}) \(\d{1,9}\)$/, read: listed },
  { runner: `vitest${whole}`, pattern: /^ {1,12}Test Files {2}(\d[\w |]{0,200}) \(\d{1,9}\)$/, read: listed },
  { runner: `vitest${whole}`, pattern: /^ {1,12}Errors {2}(\d{1,9} errors?)$/, read: listed },
  { runner: "vitest", pattern: /^(?:No test files found|(?: {1,12}Tests {2}no tests))/, read: nothing },
  { runner: "mocha", pattern: /^ {2}(\d{1,9} (?:passing|failing|pending))(?: \(.{1,20}\))?$/, read: listed },
  { runner: "playwright", pattern: /^ {2}(\d{1,9} (?:passed|failed|flaky|skipped))(?: \(.{1,20}\))?$/, read: listed },
  { runner: "bun test", pattern: /^ (\d{1,9} (?:pass|fail|skip|todo))$/, read: listed },
  { runner: "deno test", pattern: /^(?:ok|FAILED) \| (\d{1,9} passed.{0,40} \| \d{1,9} failed.{0,60})/, read: listed },
  {
    runner: "pytest",
    pattern: /^(?:={1,200} )?(\d{1,9} [a-z]{1,12}(?:, \d{1,9} [a-z]{1,12}){0,9}) in [\d.]{1,12}s/,
    read: listed,
  },
  { runner: "pytest", pattern: /^(?:={1,200} )?no tests ran in /, read: nothing },
  { runner: "unittest", pattern: /^Ran (\d{1,9}) tests? in /, read: (total) => ({ passed: number(total) }) },
  {
    runner: "unittest",
    pattern: /^(?:OK|FAILED) \(([a-z0-9=, ]{1,100})\)$/,
    read: (list) => outOf("0", labelled(list)),
  },
  { runner: "unittest", pattern: /^NO TESTS RAN/, read: nothing },
  { runner: "cargo test", pattern: /^test result: \w{1,10}\. (\d[\w; ]{0,100})/, read: listed },
  { runner: "cargo nextest", pattern: /^ {1,12}Summary \[.{1,20}\] {1,3}\d.{0,40} run: (\d.{0,100})$/, read: listed },
  { runner: "go test", pattern: /^--- (PASS|FAIL|SKIP): /, read: (word) => listed(`1 ${word?.toLowerCase()}`) },
  {
    runner: "go test",
    pattern: /^\{.{0,200}"Action":"(pass|fail|skip)".{0,200}"Test":"[^"/]{1,200}"/,
    read: (word) => listed(`1 ${word}`),
  },
  { runner: `go test${whole}`, pattern: /^ok {1,3}\t\S{1,200}\t(?!.*\[no tests)/, read: () => ({ passed: 1 }) },
  { runner: `go test${whole}`, pattern: /^FAIL\t\S/, read: () => ({ failed: 1 }) },
  { runner: `go test${whole}`, pattern: /\[no test(?:s to run| files)\]$/, read: nothing },
  {
    runner: "rspec",
    pattern: /^(\d{1,9}) examples?, (\d{1,9} failures?.{0,60})$/,
    read: (total, list) => outOf(total, listed(list)),
  },
  {
    runner: "minitest",
    pattern: /^(\d{1,9}) (?:runs|tests), \d{1,9} assertions, (\d{1,9}) failures, (\d{1,9}) errors, (\d{1,9}) skips/,
    read: (total, failures, errors, skips) =>
      outOf(total, { passed: 0, failed: number(failures) + number(errors), skipped: number(skips) }),
  },
  {
    runner: "maven",
    pattern: /^(?:\[\w{1,8}\] )?Tests run: (\d{1,9}), (Failures: \d{1,9}, Errors: \d{1,9}, Skipped: \d{1,9})$/,
    read: (total, list) => outOf(total, labelled(list)),
  },
  {
    runner: "gradle",
    pattern: /^(\d{1,9}) tests? completed((?:, \d{1,9} (?:failed|skipped)){0,2})$/,
    read: (total, list) => outOf(total, listed(list)),
  },
  {
    runner: "dotnet test",
    pattern: /^(?:Passed|Failed)! {1,4}- (Failed: {1,10}\d{1,9}, Passed: {1,10}\d{1,9}, Skipped: {1,10}\d{1,9})/,
    read: labelled,
  },
  {
    runner: "phpunit",
    pattern: /^OK \((\d{1,9}) tests?, \d{1,9} assertions?\)/,
    read: (total) => ({ passed: number(total) }),
  },
  {
    runner: "phpunit",
    pattern: /^Tests: (\d{1,9}), Assertions: \d{1,9}((?:, [A-Z][a-z]{1,15}: \d{1,9}){0,9})\.$/,
    read: (total, list) => outOf(total, labelled(list)),
  },
  {
    runner: "ctest",
    pattern: /^\d{1,3}% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})$/,
    read: (failed, total) => outOf(total, { passed: 0, failed: number(failed), skipped: 0 }),
  },
  { runner: "ctest", pattern: /^No tests were found!!!$/, read: nothing },
  {
    runner: "junit",
    pattern: /^\s{0,8}<testsuite (.{1,400})/,
    read: (attributes) => {
      const named = (name: string): string | undefined =>
        new RegExp(` ${name}="(\\d{1,9})"`).exec(` ${attributes}`)?.[1];
      const failed = number(named("failures")) + number(named("errors"));
      return outOf(named("tests"), { passed: 0, failed, skipped: number(named("skipped")) });
    },
  },
];

export function readSummaryLine(line: string): RunnerTally[] {
  return summaries.flatMap(({ runner, pattern, read }) => {
    const match = pattern.exec(line);
    return match === null ? [] : [{ runner, ...read(...match.slice(1)) }];
  });
}
