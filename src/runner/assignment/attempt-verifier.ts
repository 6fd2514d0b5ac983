// Verifies an attempt for real: its checks on fresh checkouts of its commit and of its base, and what git says of the change.

import { type BaseCache, runChecks } from "../../verification/index.ts";
import { readRecord, sessionResult, type Workspace } from "../../workspace/index.ts";
import type { StepContext } from "../../ports.ts";
import type { EvidenceFact } from "../../protocol/task/evidence.ts";
import { checkPrograms, type CheckProgramOptions } from "../shared/sandbox/check-programs.ts";
import type { SessionWorkspaces } from "../shared/session-folder.ts";
import type { Verify, VerifyOutcome, VerifyRequest } from "./verifier.ts";

export interface AttemptVerifierOptions extends CheckProgramOptions {
  readonly workspaces: SessionWorkspaces;
  /** A private folder for checkouts, outside of the state folder and of every workspace. */
  readonly folder: string;
  readonly cache?: BaseCache;
}

const mostChanged = 500;

export function attemptVerifier(options: AttemptVerifierOptions): Verify {
  return async (request, step) => {
    const { workspace: id, commit } = request;
    const workspace = id === null ? undefined : readRecord(options.workspaces.store, id);
    if (workspace?.git_dir === undefined || workspace.git_dir === null || commit === null) {
      return { commit, tree: null, facts: [], findings: unchecked(request) };
    }
    const { checks, base } = request;
    const ran = await runChecks({
      gitDir: workspace.git_dir,
      commit,
      base,
      checks,
      setup: options.workspaces.setup ?? [],
      folder: options.folder,
      showGit: workspace.mode !== "copy",
      runProgram: checkPrograms(options, step),
      cache: options.cache,
      signal: step.signal,
    });
    const git = await gitFact(workspace, { request, tip: ran.commit, step });
    return { commit: ran.commit, tree: ran.tree, facts: [...ran.facts, ...git], findings: [] };
  };
}

/** Checks need files of which Tutti knows that nobody changes them any more. */
function unchecked({ checks }: VerifyRequest): VerifyOutcome["findings"] {
  return checks.length === 0
    ? []
    : ["The checks were not run, because the session left no commit that could be checked."];
}

interface Looking {
  readonly request: VerifyRequest;
  readonly tip: string;
  readonly step: StepContext;
}

async function gitFact(workspace: Workspace, { request, tip, step }: Looking): Promise<EvidenceFact[]> {
  const base = request.base ?? workspace.base;
  if (base === null) return [];
  const found = await sessionResult({ ...workspace, base }, { maxFiles: mostChanged, signal: step.signal });
  const changed = found?.files.map(({ path }) => path) ?? [];
  return [{ kind: "git", base, head: tip, clean: found?.tip === tip, changed }];
}
