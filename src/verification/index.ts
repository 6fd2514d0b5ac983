// Verification: everything that other layers use of this one.

export { type BaseCache, openBaseCache } from "./base-cache.ts";
export type { CheckProgram, RunProgram } from "./check-program.ts";
export { removeCheckFolders, type SetupStep } from "./fresh-checkout.ts";
export { type ClaimedWork, lookUpClaims } from "./look-up-claims.ts";
export {
  fileFact,
  type FileQuestion,
  gitFact,
  type GitQuestion,
  hasComment,
  hasCommit,
  prFact,
  type PrQuestion,
  type RunGh,
} from "./observe-facts.ts";
export { type ChecksOutcome, type ChecksRequest, runChecks, type WantedCheck } from "./run-checks.ts";
export { type FolderSnapshot, snapshotFolder, type SnapshotWish } from "./snapshot-folder.ts";
