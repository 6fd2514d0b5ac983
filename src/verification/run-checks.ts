// Runs the checks of an attempt on a fresh checkout of its commit and on its base, and tells what was observed.

import { checkFact, type CheckRun, notRun } from "../core/check-outcome.ts";
import { readCheck } from "../core/read-check.ts";
import { isTestPath, suspectLines } from "../core/suspect-lines.ts";
import type { Check } from "../protocol/decision/decision.ts";
import { TuttiError } from "../protocol/error.ts";
import type { CheckFact, SuspectLine } from "../protocol/task/evidence.ts";
import type { StartedCheck } from "../protocol/task/started-check.ts";
import { resolveCommit } from "../workspace/find-repository.ts";
import { openGit } from "../workspace/own-git.ts";
import { withScratch } from "../workspace/scratch-store.ts";
import { addedLines } from "./added-lines.ts";
import { type BaseCache, baseKey, type ObservedRuns } from "./base-cache.ts";
import { baseFilesOf, type ChangedEntry, changedEntries, type TreeFiles, withoutWorkTree } from "./base-files.ts";
import type { RunProgram } from "./check-program.ts";
import { type Checkouts, openCheckouts, type SetupStep, withCheckFolder } from "./fresh-checkout.ts";
import { measuredLines } from "./measured-lines.ts";
import { reachingLines } from "./reaching-lines.ts";
import { type ReadyCheck, runOnTree } from "./run-on-tree.ts";
import { type HeldCheck, tryCanary } from "./try-canary.ts";

export interface WantedCheck {
  readonly check: Check;
  /** Relative to the top of the checkout; the folder of the project when absent. */
  readonly cwd?: string | undefined;
  readonly named_by: CheckFact["named_by"];
  /** Only a person or the project's config can allow it. */
  readonly network?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether the task has to make it succeed; it has when absent. */
  readonly is_criterion?: boolean | undefined;
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
  /** Called before each run of a check. */
  readonly onStart?: ((started: StartedCheck) => void) | undefined;
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
  const of = request.checks.length;
  const read = request.checks.map((wanted, at) =>
    readWanted(wanted, { project, timeoutMs, place: { number: at + 1, of } }),
  );
  const checks = read.flatMap(({ ready }) => ready ?? []);
  const runs = await withCheckFolder(folder, (inner) =>
    withScratch(inner, gitDir, async ({ objects }): Promise<ReadonlyMap<ReadyCheck, Observed>> => {
      const { showGit = true, runProgram, onStart = () => undefined } = request;
      const setUp = { setup, project, setupTimeoutMs: timeoutMs };
      const checkouts = openCheckouts({ git, folder: inner, objects, showGit, ...setUp, runProgram, onStart, signal });
      const keyed = checks.map((check) => {
        const key = keyOf(check, `${attempt.tree} on ${base?.tree ?? ""}`, checkouts.place);
        return { check, key, known: cache?.attempts.get(key) };
      });
      const open = keyed.flatMap(({ check, known }) => (known === undefined ? [check] : []));
      const observed = await observe({ checkouts, attempt, base, cache }, open);
      for (const { check, key } of keyed) {
        const found = observed.get(check);
        // What failed may have failed for another reason, and is run again.
        if (found?.run.outcome === "passed") cache?.attempts.set(key, found);
      }
      const files =
        base === undefined
          ? undefined
          : { git, folder: inner, objects, attempt: attempt.tree, base: base.tree, signal };
      const passed = keyed.map(({ check, known }): [ReadyCheck, ObservedRuns | undefined] => [
        check,
        known ?? observed.get(check),
      ]);
      return withSuspects(files, passed);
    }),
  );
  const facts = read.map(({ fact, ready, problem }) => {
    const found = ready === undefined ? undefined : runs.get(ready);
    const { run = notRun(problem), changedFiles = [], base: onBase, withBaseFiles, ...more } = found ?? {};
    return checkFact({ check: fact, run, base: onBase, changedFiles, withBaseFiles, ...more });
  });
  return { ...attempt, facts };
}

interface Observed extends ObservedRuns {
  readonly suspect?: readonly SuspectLine[];
}

interface Observing {
  readonly checkouts: Checkouts;
  readonly attempt: Side;
  readonly base: Side | undefined;
  readonly cache: BaseCache | undefined;
}

async function observe(
  { checkouts, attempt, base, cache }: Observing,
  checks: readonly ReadyCheck[],
): Promise<Map<ReadyCheck, ObservedRuns>> {
  const rewritten = new Map<ReadyCheck, string[]>();
  const onAttempt = await runOnTree(checkouts, attempt, checks, { on: "work", rewritten });
  const found = new Map<ReadyCheck, ObservedRuns>();
  for (const [index, check] of checks.entries()) {
    const run = onAttempt[index];
    if (run === undefined) continue;
    found.set(check, { run });
    // A later task may begin with this work.
    cache?.write(keyOf(check, attempt.tree, checkouts.place), run);
  }
  if (base === undefined) return found;
  // Where nothing was changed, the base is the same files.
  const isSame = base.tree === attempt.tree;
  const onBase = isSame ? undefined : await runOnBase(checkouts, { ...base, cache }, found);
  if (!isSame) await checkouts.done(base.tree);
  const { git, folder, objects, signal } = checkouts.place;
  const files = { git, folder, objects, attempt: attempt.tree, base: base.tree, signal };
  const entries = isSame ? [] : await changedEntries(files);
  const held: HeldCheck[] = [];
  // The canaries of a check hold for one that only names some of its files, so the shorter command comes first.
  const ordered = [...found].toSorted(([one], [other]) => one.argv.length - other.argv.length);
  for (const [check, known] of ordered) {
    const compared = { ...known, base: onBase === undefined ? known.run : onBase.get(check) };
    found.set(
      check,
      isSame
        ? compared
        : await comparedRuns({ checkouts, files, entries, attempt, base, held, rewritten }, check, compared),
    );
  }
  return found;
}

interface Comparing {
  readonly checkouts: Checkouts;
  readonly files: TreeFiles;
  readonly entries: readonly ChangedEntry[];
  readonly attempt: Side;
  readonly base: Side;
  readonly held: HeldCheck[];
  /** Files that a check changed while it ran on the attempt. */
  readonly rewritten: ReadonlyMap<ReadyCheck, readonly string[]>;
}

/** What a pass is worth: with the base's version of the check, without the work, and with tests that must fail. */
async function comparedRuns(
  { checkouts, files, entries, attempt, base, held, rewritten }: Comparing,
  check: ReadyCheck,
  known: ObservedRuns,
): Promise<ObservedRuns> {
  const { setup, project } = checkouts.place;
  const place = { argv: check.argv, cwd: check.fact.cwd, setup, project };
  const { changed, tree, note, isOwn, measures } = await baseFilesOf(files, entries, place);
  const observed = { ...known, changedFiles: changed, note };
  if (known.run.outcome !== "passed") return observed;
  const runOn = async (wanted: Side, on: StartedCheck["on"]): Promise<CheckRun | undefined> =>
    (await runOnTree(checkouts, wanted, [check], { on }))[0];
  const withBaseFiles = tree === undefined ? undefined : await runOn({ tree, commit: attempt.commit }, "base_checks");
  const isNew = known.base?.outcome !== "passed";
  const without = isNew ? await withoutWorkTree(files, entries, place) : undefined;
  const withoutWork =
    without === undefined ? undefined : await runOn({ tree: without, commit: base.commit }, "without_work");
  const judged = { ...observed, withBaseFiles, ...(withoutWork === undefined ? {} : { withoutWork }) };
  // Where the pass proves nothing anyway, or only as the session changed the check, canaries would decide nothing.
  const mayProve = isNew || check.isCriterion || check.fact.named_by === "model";
  if (!mayProve || withoutWork?.outcome === "passed") return judged;
  if (withBaseFiles !== undefined && withBaseFiles.outcome !== "passed") return judged;
  // What changes the check while it runs speaks for it.
  if ((rewritten.get(check) ?? []).some(isOwn)) return { ...judged, canary: "spoken_for" };
  const seen = isNew ? await measuredLines({ checkouts, files, entries, attempt, check }, measures) : [];
  const canary = await tryCanary({
    checkouts,
    attempt,
    without: { tree: without ?? base.tree, commit: base.commit },
    check,
    plain: known.run,
    changed: entries.flatMap(({ path, after }) => (after === undefined ? [] : [path])),
    held,
  });
  return { ...judged, canary, ...(seen.length === 0 ? {} : { seen }) };
}

/** The lines are the same for every check, but for its own files. */
async function withSuspects(
  files: TreeFiles | undefined,
  observed: readonly (readonly [ReadyCheck, ObservedRuns | undefined])[],
): Promise<Map<ReadyCheck, Observed>> {
  const isWanted = observed.some(([, found]) => found?.run.outcome === "passed");
  const added = files === undefined || !isWanted ? undefined : await addedLines(files);
  const reaching = added === undefined ? new Map<number, string>() : reachingLines(added.lines);
  const result = new Map<ReadyCheck, Observed>();
  for (const [check, found] of observed) {
    if (found === undefined) continue;
    if (added === undefined || found.run.outcome !== "passed") {
      result.set(check, found);
      continue;
    }
    const own = new Set(found.changedFiles);
    const suspect = suspectLines(added.lines, (path) => own.has(path) || isTestPath(path), reaching);
    suspect.unshift(...(found.seen ?? []));
    const last = added.lines.at(-1);
    if (added.isCut && last !== undefined) {
      suspect.unshift({ ...last, text: "", why: "is followed by more than can be looked at" });
    }
    result.set(check, { ...found, suspect });
  }
  return result;
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
  defaults: {
    readonly project: string;
    readonly timeoutMs: number;
    readonly place: Pick<ReadyCheck, "number" | "of">;
  },
): ReadWanted {
  const { check, cwd = defaults.project, named_by, network = false, timeoutMs = defaults.timeoutMs } = wanted;
  const isCriterion = wanted.is_criterion ?? true;
  try {
    const argv = readCheck(check);
    const fact = { argv, cwd, named_by };
    return { fact, ready: { fact, argv, network, timeoutMs, isCriterion, ...defaults.place }, problem: "" };
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    const argv = typeof check === "string" ? [check] : check.run;
    return { fact: { argv, cwd, named_by }, ready: undefined, problem: thrown.message };
  }
}

function keyOf({ argv, fact, network, timeoutMs }: ReadyCheck, tree: string, place: Checkouts["place"]): string {
  const { setup, project } = place;
  return baseKey({ tree, argv, cwd: fact.cwd, network, timeoutMs, setup: [project, ...setup] });
}

/** A failure is tried twice only for a check that does not pass now: for one that does, it makes no difference. */
async function runOnBase(
  checkouts: Checkouts,
  { commit, tree, cache }: Side & { readonly cache: BaseCache | undefined },
  onAttempt: ReadonlyMap<ReadyCheck, ObservedRuns>,
): Promise<Map<ReadyCheck, CheckRun>> {
  const found = new Map<ReadyCheck, CheckRun>();
  const { onStart, signal } = checkouts.place;
  for (const [check, { run }] of onAttempt) {
    const again = run.outcome !== "passed";
    const twice = keyOf(check, tree, checkouts.place);
    const once = keyOf(check, `${tree} once`, checkouts.place);
    const runBase = async (): Promise<CheckRun | undefined> =>
      (await runOnTree(checkouts, { commit, tree }, [check], { on: "base", again }))[0];
    const { argv, number, of } = check;
    const outcome = await (cache === undefined
      ? runBase()
      : cache.find({
          keys: again ? [twice] : [twice, once],
          runKey: again ? twice : once,
          // What passed does not run twice in any case.
          keep: (ended) => (again || ended.outcome === "passed" ? twice : once),
          run: runBase,
          onWait: () => onStart({ argv: [...argv], on: "base", number, of, again: false }),
          signal,
        }));
    if (outcome !== undefined) found.set(check, outcome);
  }
  return found;
}
