// Merges the work of a goal's tasks into one branch, runs their checks on it, and judges the goal's criteria by that.

import { relative } from "node:path";

import { boundCheck, isSameArgv } from "../../core/criterion-check.ts";
import { judgeEvidence } from "../../core/judge-evidence.ts";
import { type FactWeight, makeEvidence, weighFact } from "../../core/make-evidence.ts";
import { personsChecks } from "../../core/persons-checks.ts";
import { argvOfCheck } from "../../core/read-check.ts";
import type { IntegrationRequest, IntegrationResult } from "../../manager/manager-deps.ts";
import type { RunningStep } from "../../ports.ts";
import type { Check } from "../../protocol/decision/decision.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { GoalFile } from "../../protocol/invocation/goal-file.ts";
import type { PlannedTask } from "../../protocol/task/goal.ts";
import type { NamedCheck } from "../../protocol/task/named-check.ts";
import type { Evidence } from "../../protocol/task/evidence.ts";
import type { AllowedChecks } from "../../runner/assignment/ask-about-work.ts";
import type { AttemptVerifierOptions } from "../../runner/assignment/attempt-verifier.ts";
import { runChecksOfWork } from "../../runner/shared/checks-of-work.ts";
import { checkPrograms } from "../../runner/shared/sandbox/check-programs.ts";
import { tellingOfChecks } from "../../runner/shared/tell-of-checks.ts";
import { integrateWorks, readRecord, startFolder, type Workspace } from "../../workspace/index.ts";
import { openGit } from "../../workspace/own-git.ts";

export interface IntegrateOptions extends AttemptVerifierOptions {
  /** A check that only a model named runs on the merged work when a person allowed it before. */
  readonly allowed: AllowedChecks;
}

export async function integrateGoal(
  request: IntegrationRequest,
  step: RunningStep,
  options: IntegrateOptions,
): Promise<IntegrationResult> {
  const merged = await mergeWork(request, step, options);
  if (merged.kind === "conflict") return merged;
  const evidence = merged.kind === "merged" ? await checkMerged(request, step, { ...options, merged }) : [];
  const integration = merged.kind === "merged" ? merged.integration : null;
  const whole = judgeEvidence({
    evidence,
    criteria: request.goal.acceptance,
    commit: integration?.commit ?? null,
    tree: integration?.tree ?? null,
  });
  const { work } = request;
  const commit = integration?.commit ?? null;
  const isSame = merged.kind === "merged" ? await sameFiles(merged, step.signal) : async () => false;
  const criteria = [];
  for (const { id, state, reason, evidence: by } of whole.criteria) {
    const proven = state === "open" ? await provenByTask(work, { id, commit, isSame }) : undefined;
    criteria.push(proven ?? { id, state, reason, evidence: [...by] });
  }
  const ofGoal = new Set(request.goal.acceptance.map(({ id }) => id));
  const rest = evidence.filter((one) => !one.criteria.some((id) => ofGoal.has(id))).map(weightOf);
  // What was said of the one task whose commit this is has been settled there.
  const isOfOneTask = work.some(({ result }) => result.commit === commit);
  const doubted = rest.filter(({ doubt }) => doubt !== "none");
  const isHard = ({ doubt }: FactWeight): boolean => doubt === "person" && !isOfOneTask;
  return {
    kind: "checked",
    integration,
    evidence,
    criteria,
    failures: rest.filter(({ verdict }) => verdict === "contradicts").map(({ reason }) => reason),
    doubts: doubted.filter((each) => !isHard(each)).map(({ reason }) => reason),
    unsettled: doubted.filter(isHard).map(({ reason }) => reason),
  };
}

function weightOf({ fact, criteria }: Evidence): FactWeight {
  if (fact.kind === "person") throw new TuttiError("internal", "nobody speaks while checks run");
  return weighFact(fact, { criteria });
}

interface OpenCriterion {
  readonly id: string;
  readonly commit: string | null;
  /** Whether the files are the same in the work of a task and in the whole. */
  readonly isSame: (commit: string, files: readonly string[]) => Promise<boolean>;
}

/**
 * A task's own judgement counts for the whole when its commit is the whole, when nothing was merged, or when the files that
 * its reviewer named are the same in the whole.
 */
async function provenByTask(work: IntegrationRequest["work"], { id, commit, isSame }: OpenCriterion) {
  for (const { result } of work) {
    const judged = result.criteria.find((one) => one.id === id);
    if (judged?.state !== "met") continue;
    const { files = [] } = judged;
    const isWhole = commit === null || result.commit === commit;
    const isKept = result.commit !== null && files.length > 0 && (await isSame(result.commit, files));
    if (isWhole || isKept) return { id, state: judged.state, reason: judged.reason, evidence: judged.evidence };
  }
  return undefined;
}

async function sameFiles(
  { workspace: { git_dir }, integration }: Extract<Merged, { kind: "merged" }>,
  signal: AbortSignal,
): Promise<OpenCriterion["isSame"]> {
  if (git_dir === null) return async () => false;
  const git = await openGit(git_dir, signal);
  const idOf = async (commit: string, file: string): Promise<string | undefined> => {
    const found = await git.run(["rev-parse", "--verify", "--quiet", `${commit}:${file}`], {
      expected: [1, 128],
      signal,
    });
    return found.code === 0 ? found.stdout.toString("utf8").trim() : undefined;
  };
  return async (commit, files) => {
    for (const file of files) if ((await idOf(commit, file)) !== (await idOf(integration.commit, file))) return false;
    return true;
  };
}

type Merged =
  | { readonly kind: "none" }
  | {
      readonly kind: "merged";
      readonly workspace: Workspace;
      readonly base: string | null;
      readonly integration: { branch: string | null; commit: string; tree: string | null };
    }
  | Extract<IntegrationResult, { kind: "conflict" }>;

async function mergeWork(
  { work, task }: IntegrationRequest,
  step: RunningStep,
  { workspaces }: IntegrateOptions,
): Promise<Merged> {
  const placed = work.flatMap((one) => {
    const { workspace: id, branch, commit, base, tree } = one.result;
    const workspace = id === null ? undefined : readRecord(workspaces.store, id);
    if (workspace?.git_dir === undefined || workspace.git_dir === null || commit === null) return [];
    return [{ one, workspace, branch, commit, base, tree }];
  });
  const [first, another] = placed;
  if (first === undefined) return { kind: "none" };
  const { workspace, base } = first;
  // The work of one task in a copy of a folder is the whole already.
  if (another === undefined && first.branch === null) {
    return { kind: "merged", workspace, base, integration: { branch: null, commit: first.commit, tree: first.tree } };
  }
  const works = placed.flatMap(({ one, branch, commit, workspace: { attempt } }) =>
    branch === null ? [] : [{ task: one.task, attempt, branch, commit }],
  );
  const { git_dir } = workspace;
  // Work in several repositories, or in copies of folders, is judged task by task.
  const isOneRepository = placed.every((each) => each.workspace.git_dir === git_dir);
  if (git_dir === null || !isOneRepository || works.length < placed.length) return { kind: "none" };
  const outcome = await integrateWorks(workspaces.store, {
    repository: first.one.planned.workdir,
    git_dir,
    task,
    works,
    branchPattern: workspaces.branchPattern,
    confine: workspaces.confine,
    now: step.now(),
    signal: step.signal,
  });
  if (outcome.state === "conflict") {
    const merged = [...outcome.merged.branches, outcome.branch];
    const between = placed.flatMap(({ one, branch }) =>
      branch !== null && merged.includes(branch) ? [one.planned.id] : [],
    );
    const reason = `the branch ${outcome.branch} does not merge with those before it`;
    return { kind: "conflict", between, files: [...outcome.files], reason };
  }
  const { branch, commit, tree } = outcome;
  return { kind: "merged", workspace, base: outcome.base, integration: { branch, commit, tree } };
}

async function checkMerged(
  { goal, task, file, verified }: IntegrationRequest,
  step: RunningStep,
  options: IntegrateOptions & { readonly merged: Extract<Merged, { kind: "merged" }> },
): Promise<Evidence[]> {
  const { workspace, base, integration } = options.merged;
  const { confined } = options.sandbox;
  const checks = mergedChecks(file.goal, { verified, goal: goal.id, allowed: options.allowed, confined });
  if (workspace.git_dir === null || checks.length === 0) return [];
  const ran = await runChecksOfWork(options.workspaces.store, {
    gitDir: workspace.git_dir,
    commit: integration.commit,
    base,
    checks: checks.map(({ timeout_ms, ...check }) => ({ ...check, timeoutMs: timeout_ms })),
    setup: options.workspaces.setup ?? [],
    folder: options.folder,
    project: relative(workspace.folder, startFolder(workspace)) || ".",
    showGit: workspace.mode !== "copy",
    // A person allowed each of the checks if nothing confines them.
    runProgram: checkPrograms({ ...options, unconfined: true }, step),
    onStart: tellingOfChecks(step),
    cache: options.cache,
    signal: step.signal,
  });
  return ran.facts.map((fact, at) =>
    makeEvidence(
      {
        id: `evd_${task.slice("tsk_".length)}.whole.${integration.commit.slice(0, 12)}.${at + 1}`,
        task,
        attempt: 1,
        source: "tutti",
        commit: ran.commit,
        tree: ran.tree,
        criteria: [
          ...bearing(goal.acceptance, fact.argv),
          ...(checks[at]?.is_criterion === true ? [ownCriterion] : []),
        ],
        observed_at: step.now(),
      },
      fact,
    ),
  );
}

/** What the person or a task wanted to succeed counts against the merged work also when it failed before. */
const ownCriterion = "whole";

/** A check bears on the criteria that are bound to it. */
function bearing(criteria: IntegrationRequest["goal"]["acceptance"], argv: readonly string[]): string[] {
  return criteria.flatMap((criterion) => {
    const bound = boundCheck(criterion, [argv]);
    return bound !== undefined && isSameArgv(bound, argv) ? [criterion.id] : [];
  });
}

interface ChecksOfWork {
  readonly verified: readonly PlannedTask[];
  readonly goal: string;
  readonly allowed: AllowedChecks;
  /** Whether programs are confined on this machine. */
  readonly confined: boolean;
}

/** What may run on the merged work. A criterion whose check may not run stays unproven, and the person is asked about it. */
function mergedChecks(
  goal: Pick<GoalFile["goal"], "accept" | "checks" | "project_checks">,
  { verified, goal: id, allowed, confined }: ChecksOfWork,
): NamedCheck[] {
  const checks = new Map<string, NamedCheck>();
  for (const check of goal.project_checks) checks.set(keyOf(check.check), check);
  // What the config says of a check holds also when the person or a task names it again.
  const must = (check: Check, named_by: NamedCheck["named_by"]): void => {
    const known = checks.get(keyOf(check)) ?? { check, named_by };
    checks.set(keyOf(check), { ...known, is_criterion: true });
  };
  for (const check of personsChecks(goal)) must(check, "person");
  for (const { checks: planned } of verified) {
    for (const check of planned) {
      const argv = argvOfCheck(check);
      if (checks.has(keyOf(check)) || (argv !== undefined && allowed.has(id, argv))) must(check, "model");
    }
  }
  if (confined) return [...checks.values()];
  return [...checks.values()].filter(({ check }) => {
    const argv = argvOfCheck(check);
    return argv !== undefined && allowed.has(id, argv);
  });
}

function keyOf(check: Check): string {
  return JSON.stringify(argvOfCheck(check) ?? check);
}
