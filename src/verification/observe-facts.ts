// Facts that Tutti looks up itself: what git says of an attempt, a file as the commit has it, a pull request that exists.

import { createHash } from "node:crypto";

import { z } from "zod";

import { isOfRemote, readCommentUrl, readPrUrl } from "../core/pr-reference.ts";
import type { EvidenceFact } from "../protocol/task/evidence.ts";
import { openGit } from "../workspace/own-git.ts";

type FactOf<Kind extends EvidenceFact["kind"]> = Extract<EvidenceFact, { kind: Kind }>;

export interface GitQuestion {
  readonly gitDir: string;
  readonly base: string;
  readonly commit: string;
  /** Whether everything that the session left is in the commit. */
  readonly clean: boolean;
  readonly signal?: AbortSignal;
}

/** So many paths are kept; `changed_count` tells how many there are. */
const mostPaths = 2_000;
const mostFileBytes = 64 * 1024 * 1024;

export async function gitFact({ gitDir, base, commit, clean, signal }: GitQuestion): Promise<FactOf<"git">> {
  const git = await openGit(gitDir, signal);
  const changed = await git.list(["diff-tree", "-r", "-z", "--no-renames", "--name-only", base, commit], { signal });
  const commits = Number(await git.text(["rev-list", "--count", `${base}..${commit}`], { signal }));
  const paths = changed.slice(0, mostPaths);
  return { kind: "git", base, head: commit, clean, changed: paths, changed_count: changed.length, commits };
}

export interface FileQuestion {
  readonly gitDir: string;
  readonly commit: string;
  /** Relative to the top. */
  readonly path: string;
  readonly signal?: AbortSignal;
}

/** Undefined when the commit has no such file. A link is no file, because it may lead out of the checkout. */
export async function fileFact({ gitDir, commit, path, signal }: FileQuestion): Promise<FactOf<"file"> | undefined> {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || path.includes("\0") || parts.includes("..") || parts.length === 0) return undefined;
  const git = await openGit(gitDir, signal);
  const entries = await git.list(["ls-tree", "-z", "--full-tree", commit, "--", parts.join("/")], {
    env: { GIT_LITERAL_PATHSPECS: "1" },
    signal,
  });
  const [, id] = /^100\d{3} blob ([0-9a-f]+)\t/.exec(entries[0] ?? "") ?? [];
  if (id === undefined) return undefined;
  const { stdout } = await git.run(["cat-file", "blob", id], { maxBytes: mostFileBytes, signal });
  return { kind: "file", path, sha256: createHash("sha256").update(stdout).digest("hex"), size: stdout.length };
}

/** Whether a commit of this id is in the repository and belongs to the work: it is the tip or one before it. */
export async function hasCommit(
  { gitDir, commit, signal }: Pick<FileQuestion, "gitDir" | "commit" | "signal">,
  id: string,
): Promise<boolean> {
  if (!/^[0-9a-f]{7,64}$/i.test(id)) return false;
  const git = await openGit(gitDir, signal);
  const options = { expected: [1, 128], signal };
  return (await git.run(["merge-base", "--is-ancestor", id, commit], options)).code === 0;
}

/** Runs `gh` with these arguments. Null when it cannot be run. */
export type RunGh = (
  args: readonly string[],
  signal: AbortSignal,
) => Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string } | null>;

export interface PrQuestion {
  readonly url: string;
  readonly gitDir: string;
  readonly runGh: RunGh;
  readonly signal: AbortSignal;
}

const PrView = z.object({ url: z.string(), state: z.string(), headRefOid: z.string() });

/** Undefined when it cannot be found out. A pull request of another repository does not count, whether it exists or not. */
export async function prFact({ url, gitDir, runGh, signal }: PrQuestion): Promise<FactOf<"pr"> | undefined> {
  const absent = { kind: "pr", url, exists: false, state: null, head: null } as const;
  const reference = readPrUrl(url);
  if (reference === undefined) return absent;
  if (!(await isOfRepository(gitDir, reference, signal))) return absent;
  const answer = await runGh(["pr", "view", url, "--json", "url,state,headRefOid"], signal);
  if (answer === null) return undefined;
  if (answer.code !== 0) return isAbsent(answer.stderr) ? absent : undefined;
  const view = readView(answer.stdout);
  if (view === undefined || view.url.toLowerCase() !== url.toLowerCase()) return undefined;
  return { kind: "pr", url, exists: true, state: view.state, head: view.headRefOid };
}

/** Whether a comment exists; undefined when it cannot be found out. */
export async function hasComment({ url, gitDir, runGh, signal }: PrQuestion): Promise<boolean | undefined> {
  const reference = readCommentUrl(url);
  if (reference === undefined || !(await isOfRepository(gitDir, reference, signal))) return false;
  const { host, repository, on, id } = reference;
  const path = `repos/${repository}/${on}/comments/${id}`;
  const answer = await runGh(["api", "--hostname", host, path, "--jq", ".id"], signal);
  if (answer === null) return undefined;
  if (answer.code !== 0) return isAbsent(answer.stderr) ? false : undefined;
  return answer.stdout.trim() === id ? true : undefined;
}

type Place = Parameters<typeof isOfRemote>[0];

async function isOfRepository(gitDir: string, place: Place, signal: AbortSignal): Promise<boolean> {
  const git = await openGit(gitDir, signal);
  const told = await git.run(["config", "-z", "--get-regexp", String.raw`^remote\..*\.url$`], {
    expected: [1],
    signal,
  });
  const entries = told.stdout.toString("utf8").split("\0");
  return entries.some((entry) => isOfRemote(place, entry.slice(entry.indexOf("\n") + 1)));
}

function isAbsent(told: string): boolean {
  return /could not resolve|no pull requests? found|not found/i.test(told);
}

function readView(text: string): z.infer<typeof PrView> | undefined {
  try {
    return PrView.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
