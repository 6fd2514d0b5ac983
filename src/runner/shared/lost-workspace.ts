// What becomes of an attempt whose workspace is on a machine that was lost: it is given up as unknown, and the next one begins with what was pushed.

import { z } from "zod";

import type { ProgramOutput, ProgramStep } from "../../core/pull-request.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Durable } from "../../ports.ts";
import {
  branchName,
  defaultBranchPattern,
  findRepository,
  hasCommit,
  readRecord,
  type Workspace,
  workspaceHere,
  workspaceId,
  type WorkspaceStore,
} from "../../workspace/index.ts";

/** Runs git with the person's own settings and logins. */
export type RunPersonsProgram = (step: ProgramStep, signal: AbortSignal) => Promise<ProgramOutput>;

export interface LookingForWork {
  readonly store: WorkspaceStore;
  readonly runPersonsProgram?: RunPersonsProgram | undefined;
  readonly branchPattern?: string | undefined;
  /** The person's folder. */
  readonly project: string;
  /** The commit that the attempt is to begin with. */
  readonly base: string | undefined;
}

export interface FoundWork {
  /** Undefined: the attempt begins as the first one did. */
  readonly commit: string | undefined;
  /** What a person should know, each a sentence. */
  readonly warnings: readonly string[];
}

const Found = z.object({ commit: z.string().optional(), warnings: z.array(z.string()) });
const remoteMs = 60_000;
const fetchMs = 10 * 60_000;
/** So many attempts before this one and so many remotes are looked for. */
const [mostAttempts, mostRemotes] = [8, 8];

/** The workspace as it can be used here. Otherwise the attempt ends as unknown, and the next one begins. */
export async function requireHere(durable: Durable, store: WorkspaceStore, workspace: Workspace): Promise<Workspace> {
  const here = workspaceHere(store, workspace);
  if (here !== undefined) return here;
  const reason = lostReason(workspace);
  try {
    return await durable.again("workspace.lost", { outcome: "unknown", reason });
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "refused") throw thrown;
    const message = `${reason} The task has had all its attempts.`;
    throw new TuttiError("outcome_unknown", message, { cause: thrown, retry: "unknown" });
  }
}

function lostReason({ machine, branch, folder }: Workspace): string {
  const where = `The workspace of this attempt is ${folder} on the machine ${machine?.name ?? ""}, and the task now runs on another one.`;
  const what = "What was done there is not known here and may be lost";
  return branch === null
    ? `${where} ${what}.`
    : `${where} ${what}, except for what was pushed to the branch ${branch}.`;
}

/** Only where there are several machines; a single one has all commits and all workspaces of earlier attempts. */
export async function findEarlierWork(durable: Durable, looking: LookingForWork): Promise<FoundWork> {
  const { store, base } = looking;
  if (store.machine === undefined || (durable.since === 1 && base === undefined)) return { commit: base, warnings: [] };
  const { commit, warnings } = await durable.step(
    "workspace.earlier",
    { repeatable: true, schema: Found },
    ({ signal }) => lookForWork(durable, looking, signal),
  );
  return { commit, warnings };
}

async function lookForWork(
  { task, since, agent }: Durable,
  { store, runPersonsProgram, branchPattern, project, base }: LookingForWork,
  signal: AbortSignal,
): Promise<z.infer<typeof Found>> {
  const repository = await findRepository(project, signal).catch(() => undefined);
  if (repository === undefined) return { ...(base === undefined ? {} : { commit: base }), warnings: [] };
  if (base !== undefined && (await hasCommit(repository, base, signal))) return { commit: base, warnings: [] };
  for (let attempt = since - 1; attempt > Math.max(0, since - 1 - mostAttempts); attempt -= 1) {
    // An attempt that worked here left its branch here; what follows it is decided without looking elsewhere.
    if (readRecord(store, workspaceId(task, attempt)) !== undefined && base === undefined) return { warnings: [] };
    const branch = branchName(branchPattern ?? defaultBranchPattern, { task, attempt, agent });
    const at = { cwd: repository.top, branch };
    const pushed = runPersonsProgram === undefined ? undefined : await fetchPushed(runPersonsProgram, at, signal);
    if (pushed === undefined) continue;
    if (base !== undefined && (await hasCommit(repository, base, signal))) {
      return { commit: base, warnings: [foundSentence(attempt, branch, { ...pushed, commit: base })] };
    }
    return { commit: pushed.commit, warnings: [foundSentence(attempt, branch, pushed)] };
  }
  const what =
    base === undefined ? "the attempts before this one" : `the commit ${base}, with which this attempt was to begin,`;
  return {
    warnings: [
      `The work of ${what} is not on this machine, and no remote has its branch, so this attempt begins anew.`,
    ],
  };
}

interface Pushed {
  readonly remote: string;
  readonly commit: string;
}

function foundSentence(attempt: number, branch: string, { remote, commit }: Pushed): string {
  return `Attempt ${attempt} worked on another machine. Its branch ${branch} was found at the remote ${remote}, and this attempt begins with its commit ${commit}.`;
}

/** The commit of the branch at the first remote that has it, brought here under a name of Tutti's own. */
export async function fetchPushed(
  run: RunPersonsProgram,
  { cwd, branch }: { readonly cwd: string; readonly branch: string },
  signal: AbortSignal,
): Promise<Pushed | undefined> {
  const remotes = await run({ argv: ["git", "remote"], cwd, timeoutMs: remoteMs }, signal);
  for (const remote of remotes.out
    .split("\n")
    .filter((name) => name !== "")
    .slice(0, mostRemotes)) {
    const ref = `refs/heads/${branch}`;
    const told = await run({ argv: ["git", "ls-remote", "--", remote, ref], cwd, timeoutMs: remoteMs }, signal);
    const commit = told.code === 0 ? (/^([0-9a-f]{40,64})\t/.exec(told.out)?.[1] ?? "") : "";
    if (commit === "") continue;
    const options = ["--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--no-auto-maintenance"];
    const argv = ["git", "fetch", ...options, "--", remote, `+${ref}:refs/tutti/pushed/${branch}`] as const;
    const fetched = await run({ argv, cwd, timeoutMs: fetchMs }, signal);
    if (fetched.code === 0) return { remote, commit };
  }
  return undefined;
}
