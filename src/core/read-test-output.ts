// Reads how many tests passed and failed from the output of the test runners that docs/verification.md lists.

import { readSummaryLine, type Tally, whole } from "./test-summaries.ts";

export interface TestCounts extends Tally {
  /** The names of the runners whose summaries were found. */
  readonly runner: string;
}

/** Summaries are short. The rest of a longer line is not looked at, so the time is linear in the length of the output. */
const longestLine = 600;

// oxlint-disable-next-line no-control-regex -- terminals get their colours by control characters
const escapes = /\u001b\[[0-9;:?]{0,32}[@-~]/g;

/**
 * Undefined when there is no summary of a known runner. Several summaries are added up, because each package of a repository
 * may print its own. Code that a session wrote can print any summary: use the counts against a check that passed, never for
 * one that failed.
 */
export function readTestOutput(output: string): TestCounts | undefined {
  const found = new Map<string, Tally>();
  for (const line of linesOf(output)) {
    for (const { runner, passed = 0, failed = 0, skipped = 0 } of readSummaryLine(line)) {
      const before = found.get(runner) ?? { passed: 0, failed: 0, skipped: 0 };
      found.set(runner, {
        passed: before.passed + passed,
        failed: before.failed + failed,
        skipped: before.skipped + skipped,
      });
    }
  }
  return summed(settled(found));
}

function* linesOf(output: string): Generator<string> {
  for (let from = 0; from <= output.length;) {
    const end = output.indexOf("\n", from);
    const to = end === -1 ? output.length : end;
    yield output
      .slice(from, Math.min(to, from + longestLine))
      .replaceAll(escapes, "")
      .trimEnd();
    from = to + 1;
  }
}

/** Some runners tell a result twice, in detail and as a whole. It is counted once, and a failure in either stays one. */
function settled(found: Map<string, Tally>): Map<string, Tally> {
  const twice = [...found.keys()]
    .filter((name) => name.endsWith(whole))
    .map((name): [string, string] => [name.slice(0, -whole.length), name]);
  for (const [name, other] of [...twice, ["node:test", "tap"] as const]) {
    const [tally, rest] = [found.get(name), found.get(other)];
    if (rest === undefined || (tally === undefined && other === "tap")) continue;
    found.delete(other);
    found.set(name, tally === undefined ? rest : { ...tally, failed: Math.max(tally.failed, rest.failed) });
  }
  return found;
}

function summed(found: ReadonlyMap<string, Tally>): TestCounts | undefined {
  if (found.size === 0) return undefined;
  const tallies = [...found.values()];
  const sum = (key: keyof Tally): number => tallies.reduce((total, tally) => total + Math.max(0, tally[key]), 0);
  return {
    runner: [...found.keys()].toSorted().join(", "),
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
  };
}
