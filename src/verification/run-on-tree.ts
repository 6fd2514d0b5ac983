// Runs checks on the files of one tree, each run on files that are made anew, and a failed one once more.

import { type CheckRun, compareRuns, judgeRun, notRun } from "../core/check-outcome.ts";
import type { CheckFact } from "../protocol/task/evidence.ts";
import { type CheckoutPlace, type FreshCheckout, makeCheckout, type WantedTree } from "./fresh-checkout.ts";
import { innerFolder } from "./inner-folder.ts";

export interface ReadyCheck {
  readonly fact: Pick<CheckFact, "argv" | "cwd" | "named_by">;
  readonly argv: readonly [string, ...string[]];
  readonly network: boolean;
  readonly timeoutMs: number;
}

/** How much of stdout and of stderr is kept, each. */
const outputBytes = 256 * 1024;

/** The outcomes in the order of the checks. Nothing is checked out when there are none. */
export async function runOnTree(
  place: CheckoutPlace,
  tree: WantedTree,
  checks: readonly ReadyCheck[],
): Promise<CheckRun[]> {
  if (checks.length === 0) return [];
  const made = await makeCheckout(place, tree);
  if (!made.ready) return checks.map(() => notRun(made.reason));
  const runs: CheckRun[] = [];
  for (const check of checks) {
    const first = await runOnce(place, made.checkout, check);
    const isFailure = first.outcome === "failed" || first.outcome === "timed_out";
    runs.push(isFailure ? compareRuns(first, await runOnce(place, made.checkout, check)) : first);
  }
  await made.checkout.remove();
  return runs;
}

async function runOnce(
  { runProgram, signal }: CheckoutPlace,
  { fresh, home, readable }: FreshCheckout,
  { argv, fact, network, timeoutMs }: ReadyCheck,
): Promise<CheckRun> {
  const folder = await fresh();
  const cwd = await innerFolder(folder, fact.cwd);
  if (cwd === undefined) return notRun(`There is no folder ${fact.cwd} in the checkout.`);
  const limits = { network, timeoutMs, maxOutputBytes: outputBytes };
  return judgeRun(await runProgram({ argv, cwd, folder, home: home(), readable, ...limits }, signal));
}
