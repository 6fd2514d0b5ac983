// Runs the checks of an attempt on a fresh checkout of its commit and on its base, and tells what was observed.

import { checkFact, type CheckRun, notRun } from "../core/check-outcome.ts";
import { readCheck } from "../core/read-check.ts";
import type { Check } from "../protocol/decision/decision.ts";
import { TuttiError } from "../protocol/error.ts";
import type { CheckFact } from "../protocol/task/evidence.ts";
import { resolveCommit } from "../workspace/find-repository.ts";
import { openGit } from "../workspace/own-git.ts";
import { withScratch } from "../workspace/scratch-store.ts";
import { type BaseCache, baseKey } from "./base-cache.ts";
import { baseFilesOf, changedEntries } from "./base-files.ts";
import type { RunProgram } from "./check-program.ts";
import { type CheckoutPlace, type SetupStep, withCheckFolder } from "./fresh-checkout.ts";
import { type ReadyCheck, runOnTree } from "./run-on-tree.ts";

export interface WantedCheck {
  readonly check: Check;
  /** Relative to the top of the checkout; the folder of the project when absent. */
  readonly cwd?: string | undefined;
  readonly named_by: CheckFact["named_by"];
  /** Only a person or the project's config can allow it. */
  readonly network?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface ChecksRequest {
  /** The git folder that was noted when the workspace was made. */
  readonly gitDir: string;
  /** The commit of the attempt. No process of its session may be alive any more. */
  readonly commit: string;
  /** The commit that the work began with; null when there is nothing to compare with. */
  readonly base: string | null;
  readonly checks: readonly WantedCheck[];
  /** The folder of the project, relative to the top of the repository; its top when absent. */
  readonly project?: string | undefined;
  /** Run in the project's folder of each checkout before its checks, as for sessions. */
  readonly setup?: readonly SetupStep[];
  /** A private folder for the checkouts, outside of the state folder and of every workspace. */
  readonly folder: string;
  /** False for the history of a copied folder, which was no git repository. */
  readonly showGit?: boolean;
  readonly runProgram: RunProgram;
  /** Outcomes on bases that are known already. */
  readonly cache?: BaseCache | undefined;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

export interface ChecksOutcome {
  readonly commit: string;
  readonly tree: string;
  /** One for each check, in the same order. */
  readonly facts: readonly CheckFact[];
}

const defaultTimeoutMs = 15 * 60_000;

export async function runChecks(request: ChecksRequest): Promise<ChecksOutcome> {
  const { gitDir, folder, cache, setup = [], project = ".", timeoutMs = defaultTimeoutMs, signal } = request;
  const git = await openGit(gitDir, signal);
  const sideOf = async (name: string): Promise<Side> => {
    const commit = await resolveCommit(git, name, signal);
    return { commit, tree: await git.text(["rev-parse", "--verify", `${commit}^{tree}`], { signal }) };
  };
  const attempt = await sideOf(request.commit);
  const base = request.base === null ? undefined : await sideOf(request.base);
  const read = request.checks.map((wanted) => readWanted(wanted, { project, timeoutMs }));
  const checks = read.flatMap(({ ready }) => ready ?? []);
  const runs = await withCheckFolder(folder, (inner) =>
    withScratch(inner, gitDir, async ({ objects }): Promise<ReadonlyMap<ReadyCheck, Observed>> => {
      const { showGit = true, runProgram } = request;
      const setUp = { setup, project, setupTimeoutMs: timeoutMs };
      const place = { git, folder: inner, objects, showGit, ...setUp, runProgram, signal };
      const onAttempt = await runOnTree(place, { ...attempt, name: "attempt" }, checks);
      if (base === undefined) return new Map(checks.map((check, index) => [check, { run: onAttempt[index] }]));
      // Where nothing was changed, the base is the same files.
      const onBase = base.tree === attempt.tree ? onAttempt : await runOnBase(place, { ...base, cache }, checks);
      const passed = checks.filter((_, index) => onAttempt[index]?.outcome === "passed");
      const own = await runWithBaseFiles(place, { attempt, base: base.tree, passed }, checks);
      return new Map(
        checks.map((check, index) => [check, { run: onAttempt[index], base: onBase[index], ...own.get(check) }]),
      );
    }),
  );
  const facts = read.map(({ fact, ready, problem }) => {
    const found = ready === undefined ? undefined : runs.get(ready);
    const { run = notRun(problem), base: onBase, changedFiles = [], withBaseFiles } = found ?? {};
    return checkFact({ check: fact, run, base: onBase, changedFiles, withBaseFiles });
  });
  return { ...attempt, facts };
}

interface Observed extends Partial<OwnFiles> {
  readonly run: CheckRun | undefined;
  readonly base?: CheckRun | undefined;
}

interface OwnFiles {
  readonly changedFiles: readonly string[];
  readonly withBaseFiles: CheckRun | undefined;
}

interface Side {
  readonly commit: string;
  readonly tree: string;
}

interface ReadWanted {
  readonly fact: ReadyCheck["fact"];
  /** Undefined when it is no command that can be run. */
  readonly ready: ReadyCheck | undefined;
  readonly problem: string;
}

function readWanted(
  wanted: WantedCheck,
  defaults: { readonly project: string; readonly timeoutMs: number },
): ReadWanted {
  const { check, cwd = defaults.project, named_by, network = false, timeoutMs = defaults.timeoutMs } = wanted;
  try {
    const argv = readCheck(check);
    const fact = { argv, cwd, named_by };
    return { fact, ready: { fact, argv, network, timeoutMs }, problem: "" };
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    const argv = typeof check === "string" ? [check] : check.run;
    return { fact: { argv, cwd, named_by }, ready: undefined, problem: thrown.message };
  }
}

async function runOnBase(
  place: CheckoutPlace,
  { commit, tree, cache }: Side & { readonly cache: BaseCache | undefined },
  checks: readonly ReadyCheck[],
): Promise<(CheckRun | undefined)[]> {
  const { setup, project } = place;
  const keyed = checks.map((check) => {
    const { argv, fact, network, timeoutMs } = check;
    const key = baseKey({ tree, argv, cwd: fact.cwd, network, timeoutMs, setup: [project, ...setup] });
    return { check, key, known: cache?.read(key) };
  });
  const open = keyed.filter(({ known }) => known === undefined);
  const runs = await runOnTree(
    place,
    { commit, tree, name: "base" },
    open.map(({ check }) => check),
  );
  const found = new Map(open.map(({ key }, index) => [key, runs[index]]));
  for (const [key, run] of found) if (run !== undefined) cache?.write(key, run);
  return keyed.map(({ key, known }) => known ?? found.get(key));
}

interface Sides {
  readonly attempt: Side;
  /** A tree. */
  readonly base: string;
  /** The others did not pass anyway. */
  readonly passed: readonly ReadyCheck[];
}

/** Checks whose own files the session changed run once more with the base's version of them. */
async function runWithBaseFiles(
  place: CheckoutPlace,
  { attempt, base, passed }: Sides,
  checks: readonly ReadyCheck[],
): Promise<Map<ReadyCheck, OwnFiles>> {
  const { git, folder, objects, setup, project, signal } = place;
  const files = { git, folder, objects, attempt: attempt.tree, base, signal };
  const entries = await changedEntries(files);
  const found = new Map<ReadyCheck, OwnFiles>();
  const byTree = new Map<string, ReadyCheck[]>();
  for (const check of checks) {
    const { changed, tree } = await baseFilesOf(files, entries, {
      argv: check.argv,
      cwd: check.fact.cwd,
      setup,
      project,
    });
    found.set(check, { changedFiles: changed, withBaseFiles: undefined });
    if (tree === undefined || !passed.includes(check)) continue;
    byTree.set(tree, [...(byTree.get(tree) ?? []), check]);
  }
  for (const [tree, group] of byTree) {
    const runs = await runOnTree(place, { tree, commit: attempt.commit, name: tree }, group);
    for (const [index, check] of group.entries()) {
      found.set(check, { changedFiles: found.get(check)?.changedFiles ?? [], withBaseFiles: runs[index] });
    }
  }
  return found;
}
