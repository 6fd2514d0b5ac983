// The workspaces of sessions: everything that other layers use of this one.

export { chooseRemovals, type RemovalCandidate, type RemovalLimits, type Removals } from "./choose-removals.ts";
export { type CommitHook, type CommitHooks, withCommitHooks } from "./commit-hooks.ts";
export type { CopiedFiles } from "./copy-files.ts";
export { createWorkspace, type CreateOutcome, type NewWorkspace, type WorkspaceBase } from "./create-workspace.ts";
export { endSession, type EndSession, importSession, type SessionImport } from "./end-session.ts";
export { findRepository, hasCommit, repositoryTop } from "./find-repository.ts";
export {
  inspectWorkspace,
  type ListedWorkspace,
  listWorkspaces,
  type WorkspaceList,
  type WorkspaceState,
} from "./list-workspaces.ts";
export { integrateWorks, type Integrated, type WorkIntegration } from "./integrate-works.ts";
export type { Signing } from "./make-commit.ts";
export { mergeBranch, type MergeInto } from "./merge-branch.ts";
export type { MergeConflict, MergeOutcome, NamedCommit } from "./merge-commits.ts";
export { finishedWork, type FinishedWork, mergePredecessors, type Predecessors } from "./merge-predecessors.ts";
export { workspaceHere } from "./other-machine.ts";
export type { Confine } from "./own-git.ts";
export {
  approveProtected,
  type ProtectedChanges,
  protectedChanges,
  type ProtectedLook,
  protectedPatch,
} from "./protected-changes.ts";
export { openWorkspaces, readRecord, readRecords, type ReadRecords, type WorkspaceStore } from "./record-store.ts";
export { type Recovered, recoverWorkspaces } from "./recover-workspaces.ts";
export { worktreeGitDir } from "./remove-files.ts";
export { type RemovedWorkspace, type RemoveOptions, removeWorkspace, restoreWorkspace } from "./remove-workspace.ts";
export {
  type CommitSetting,
  type CommitVerdict,
  type SavedWork,
  type SaveOptions,
  saveWorkspace,
} from "./save-workspace.ts";
export { beginSession, type SessionBind, type SessionConfinement } from "./session-git.ts";
export {
  beginningOfPatch,
  type ChangedFile,
  type ResultCommit,
  type ResultOptions,
  sessionPatch,
  sessionResult,
  type SessionResult,
} from "./session-result.ts";
export { type WorkSoFar, workSoFar } from "./work-so-far.ts";
export { type CachedSetup, keepSetup, restoreSetup, type SetupCache, setupKey, trimSetupCache } from "./setup-cache.ts";
export {
  ApprovedFile,
  branchName,
  defaultBranchPattern,
  integrationId,
  Machine,
  savedRef,
  startFolder,
  Workspace,
  WorkspaceId,
  workspaceId,
  WorkspaceMode,
  workspaceOfTask,
} from "./workspace-record.ts";
