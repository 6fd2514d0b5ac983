// Looks up in git, in the log and on the forge what a session claims, and tells what is not there.

import { checkClaims, type ClaimFinding, isSamePath } from "../core/check-claims.ts";
import { type Claims, findClaims } from "../core/find-claims.ts";
import type { TestCounts } from "../protocol/task/evidence.ts";
import { openGit } from "../workspace/own-git.ts";
import { hasComment, hasCommit, prFact, type PrQuestion, type RunGh } from "./observe-facts.ts";

export interface ClaimedWork {
  /** What the session said at the end. */
  readonly words: string;
  readonly gitDir: string;
  readonly commit: string;
  readonly base: string;
  /** How many tool calls the log has, and the commands among them. */
  readonly calls: number;
  readonly commands: readonly string[];
  /** What the checks counted on the commit. */
  readonly tests: readonly TestCounts[];
  /** How many items the task is about, when it said so at the beginning. */
  readonly items?: number | undefined;
  /** Without it, pull requests and comments are not looked up. */
  readonly runGh?: RunGh | undefined;
  readonly signal: AbortSignal;
}

/** So many addresses of each kind are asked for. */
const mostLookups = 10;

export async function lookUpClaims(work: ClaimedWork): Promise<ClaimFinding[]> {
  const { words, gitDir, commit, base, calls, commands, tests, items, runGh, signal } = work;
  const claims = findClaims(words);
  const git = await openGit(gitDir, signal);
  const changed = await git.list(["diff-tree", "-r", "-z", "--no-renames", "--name-only", base, commit], { signal });
  const asksForFiles = claims.files.length > 0 || claims.wholeFolders.length > 0;
  const present = asksForFiles ? await git.list(["ls-tree", "-r", "-z", "--name-only", commit], { signal }) : [];
  const existingFiles = new Set(
    claims.files.map(({ path }) => path).filter((path) => present.some((each) => isSamePath(each, path))),
  );
  const existingCommits = new Set<string>();
  for (const id of claims.commits) if (await hasCommit({ gitDir, commit, signal }, id)) existingCommits.add(id);
  const lookedUp = runGh === undefined ? new Map<string, boolean>() : await askForge(claims, { gitDir, runGh, signal });
  const inFolders = present.filter((file) => claims.wholeFolders.some(({ path }) => file.startsWith(`${path}/`)));
  const found = { inFolders, existingFiles, existingCommits, lookedUp, calls, commands, tests, items };
  return checkClaims(claims, { ...found, changed, changedCount: changed.length });
}

/** What could not be found out is left out. */
async function askForge(
  { pullRequests, comments }: Pick<Claims, "pullRequests" | "comments">,
  forge: Omit<PrQuestion, "url">,
): Promise<Map<string, boolean>> {
  const lookedUp = new Map<string, boolean>();
  for (const url of pullRequests.slice(0, mostLookups)) {
    const fact = await prFact({ url, ...forge });
    if (fact !== undefined) lookedUp.set(url, fact.exists);
  }
  for (const url of comments.slice(0, mostLookups)) {
    const exists = await hasComment({ url, ...forge });
    if (exists !== undefined) lookedUp.set(url, exists);
  }
  return lookedUp;
}
