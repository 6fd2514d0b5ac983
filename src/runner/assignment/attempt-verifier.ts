// Verifies an attempt for real: its checks on fresh checkouts of its commit and of its base, and what git says of the change.

import { relative } from "node:path";

import { type BaseCache, gitFact, lookUpClaims, type RunGh } from "../../verification/index.ts";
import { readRecord, startFolder } from "../../workspace/index.ts";
import { runChecksOfWork } from "../shared/checks-of-work.ts";
import { checkPrograms, type CheckProgramOptions } from "../shared/sandbox/check-programs.ts";
import { tellingOfChecks } from "../shared/tell-of-checks.ts";
import type { SessionWorkspaces } from "../shared/session-folder.ts";
import type { Verify, VerifyOutcome, VerifyRequest } from "./verifier.ts";

export interface AttemptVerifierOptions extends Omit<CheckProgramOptions, "unconfined"> {
  readonly workspaces: SessionWorkspaces;
  /** A private folder for checkouts, outside of the state folder and of every workspace. */
  readonly folder: string;
  readonly cache?: BaseCache;
  /** Without it, pull requests and comments that a session names are not looked up. */
  readonly runGh?: RunGh;
}

export function attemptVerifier(options: AttemptVerifierOptions): Verify {
  return async (request, step) => {
    const { workspace: id, commit } = request;
    const workspace = id === null ? undefined : readRecord(options.workspaces.store, id);
    if (workspace?.git_dir === undefined || workspace.git_dir === null || commit === null) {
      const isElsewhere = id !== null && workspace === undefined;
      return { commit, tree: null, facts: [], findings: unchecked(request, isElsewhere) };
    }
    const { checks, claim, effort } = request;
    const items = request.items ?? undefined;
    const base = request.base ?? workspace.base;
    const gitDir = workspace.git_dir;
    const { signal } = step;
    const ran = await runChecksOfWork(options.workspaces.store, {
      gitDir,
      commit,
      base,
      checks: checks.map(({ timeout_ms, ...check }) => ({ ...check, timeoutMs: timeout_ms })),
      project: relative(workspace.folder, startFolder(workspace)) || ".",
      setup: options.workspaces.setup ?? [],
      folder: options.folder,
      showGit: workspace.mode !== "copy",
      runProgram: checkPrograms({ ...options, unconfined: true }, step),
      onStart: tellingOfChecks(step),
      cache: options.cache,
      signal,
    });
    if (base === null) return { commit: ran.commit, tree: ran.tree, facts: ran.facts, findings: [] };
    const range = { gitDir, base, commit: ran.commit, signal };
    const git = await gitFact({ ...range, clean: request.uncommitted === 0 });
    const tests = ran.facts.flatMap((fact) => fact.tests ?? []);
    const { runGh } = options;
    const found = effort === null ? [] : await lookUpClaims({ ...range, ...effort, words: claim, tests, items, runGh });
    const findings = found.map(({ sentence }) => sentence);
    return { commit: ran.commit, tree: ran.tree, facts: [...ran.facts, git], findings };
  };
}

/** Checks need files of which Tutti knows that nobody changes them any more. */
function unchecked({ checks }: VerifyRequest, isElsewhere: boolean): VerifyOutcome["findings"] {
  if (checks.length === 0) return [];
  const why = isElsewhere ? "the workspace is not on this machine" : "the session left no commit that could be checked";
  return [`The checks were not run, because ${why}.`];
}
