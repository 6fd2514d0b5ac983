// Looks at work with what its check holds it against: whether it holds the answers, and whether the check notices other ones.

import { isProse, isTestPath } from "../core/suspect-lines.ts";
import type { SuspectLine } from "../protocol/task/evidence.ts";
import { addedLines } from "./added-lines.ts";
import type { ChangedEntry, Measures, TreeFiles } from "./base-files.ts";
import type { Checkouts, WantedTree } from "./fresh-checkout.ts";
import { appendLine } from "./plain-file.ts";
import { judgeRun } from "../core/check-outcome.ts";
import { type ReadyCheck, runOnce } from "./run-on-tree.ts";
import { writtenAnswers } from "./written-answers.ts";

interface Measured {
  readonly checkouts: Checkouts;
  readonly files: TreeFiles;
  readonly entries: readonly ChangedEntry[];
  readonly attempt: WantedTree;
  readonly check: ReadyCheck;
}

const mostLines = 5;
const longestText = 200;

export async function measuredLines(measured: Measured, { texts, golden }: Measures): Promise<SuspectLine[]> {
  const { files, entries } = measured;
  const { lines } = await addedLines(files);
  const isWork = (path: string): boolean => !isTestPath(path) && !isProse(path) && !golden.includes(path);
  const answers = writtenAnswers(lines, texts, isWork);
  const places = [...new Set(golden.map((path) => path.slice(0, path.lastIndexOf("/") + 1)))].filter(Boolean);
  for (const [at, { path, text }] of lines.entries()) {
    const isNamed = places.some((place) => text.includes(place)) || golden.some((each) => text.includes(each));
    if (isNamed && isWork(path)) answers.set(at, "names what the check compares results with");
  }
  const written = [...answers].flatMap(([at, why]) => {
    const found = lines[at];
    return found === undefined
      ? []
      : [{ path: found.path, line: found.line, text: found.text.trim().slice(0, longestText), why }];
  });
  // Files that the work changed are judged as changed files of the check.
  const changed = new Set(entries.map(({ path }) => path));
  const unread = await unnoticed(
    measured,
    golden.filter((path) => !changed.has(path)),
  );
  return [...unread, ...written].slice(0, mostLines);
}

/** The check runs once with another line in each file that results are compared with. It has to fail. */
async function unnoticed({ checkouts, attempt, check }: Measured, golden: readonly string[]): Promise<SuspectLine[]> {
  const [first] = golden;
  if (first === undefined) return [];
  const made = await checkouts.of(attempt);
  if (!made.ready) return [];
  const prepare = async (folder: string): Promise<void> => {
    for (const path of golden) await appendLine(folder, path, "z");
  };
  const run = judgeRun(await runOnce(checkouts.place, made.checkout, check, { on: "canary", prepare }));
  if (run.outcome !== "passed") return [];
  return [{ path: first, line: 1, text: "", why: "was changed for a trial, and the check passed all the same" }];
}
