// Runs checks on the files of one tree, each run on files that are made anew, and a failed one once more.

import { type CheckRun, compareRuns, judgeRun, notRun, type ProgramOutcome } from "../core/check-outcome.ts";
import type { CheckFact } from "../protocol/task/evidence.ts";
import type { StartedCheck } from "../protocol/task/started-check.ts";
import type { CheckoutPlace, Checkouts, FreshCheckout, WantedTree } from "./fresh-checkout.ts";
import { filesIn, rewrittenFiles } from "./file-marks.ts";
import { innerFolder } from "./inner-folder.ts";

export interface ReadyCheck {
  readonly fact: Pick<CheckFact, "argv" | "cwd" | "named_by">;
  readonly argv: readonly [string, ...string[]];
  readonly network: boolean;
  readonly timeoutMs: number;
  /** Whether the task has to make it succeed. */
  readonly isCriterion: boolean;
  /** Its place among the checks of the verification, from 1. */
  readonly number: number;
  readonly of: number;
}

/** How much of stdout and of stderr is kept, each. */
const outputBytes = 256 * 1024;

export interface TreeRunOptions {
  /** What the files are. */
  readonly on: StartedCheck["on"];
  /** Whether a failure is tried twice. */
  readonly again?: boolean;
  /** Where to put the files that each check changed while it ran. */
  readonly rewritten?: Map<ReadyCheck, string[]>;
}

/** The outcomes in the order of the checks. Nothing is checked out when there are none. */
export async function runOnTree(
  checkouts: Checkouts,
  tree: WantedTree,
  checks: readonly ReadyCheck[],
  { on, again = true, rewritten }: TreeRunOptions,
): Promise<CheckRun[]> {
  if (checks.length === 0) return [];
  const made = await checkouts.of(tree);
  if (!made.ready) return checks.map(() => notRun(made.reason));
  const { place } = checkouts;
  const runs: CheckRun[] = [];
  for (const check of checks) {
    const watch = rewritten === undefined ? undefined : (found: string[]) => rewritten.set(check, found);
    const first = judgeRun(await runOnce(place, made.checkout, check, { on, watch }));
    const isFailure = again && (first.outcome === "failed" || first.outcome === "timed_out");
    const twice = async () => judgeRun(await runOnce(place, made.checkout, check, { on, again: true }));
    runs.push(isFailure ? compareRuns(first, await twice()) : first);
  }
  return runs;
}

export interface RunWish {
  readonly on: StartedCheck["on"];
  readonly again?: boolean;
  /** A folder with fresh files that no program has seen yet. */
  readonly folder?: string | undefined;
  /** Changes the files that the program will find. */
  readonly prepare?: (folder: string) => Promise<void>;
  readonly maxOutputBytes?: number;
  /** Is told which files that were there before were written to, replaced or removed meanwhile. */
  readonly watch?: ((rewritten: string[]) => void) | undefined;
}

export async function runOnce(
  { runProgram, onStart, signal }: CheckoutPlace,
  { fresh, home, readable }: FreshCheckout,
  { argv, fact, network, timeoutMs, number, of }: ReadyCheck,
  { on, again = false, prepare, watch, maxOutputBytes = outputBytes, ...wish }: RunWish,
): Promise<ProgramOutcome> {
  onStart({ argv: [...argv], on, number, of, again });
  const folder = wish.folder ?? (await fresh());
  await prepare?.(folder);
  const cwd = await innerFolder(folder, fact.cwd);
  if (cwd === undefined) return { ran: false, reason: `There is no folder ${fact.cwd} in the checkout.` };
  const limits = { network, timeoutMs, maxOutputBytes };
  const before = watch === undefined ? undefined : await filesIn(folder);
  const ended = await runProgram({ argv, cwd, folder, home: home(), readable, ...limits }, signal);
  if (before !== undefined) watch?.(await rewrittenFiles(folder, before));
  return ended;
}
