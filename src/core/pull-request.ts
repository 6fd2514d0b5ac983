// Decides how the work of a task becomes a pull request: which programs run in which order, and whether what came of it is what was agreed to.

import { z } from "zod";

import type { PullRequestPlan } from "../protocol/api/pull-request-shapes.ts";
import { BranchName, type WorkspaceDiff, type WorkspaceView } from "../protocol/api/workspace-shapes.ts";
import { argvLine } from "../protocol/argv-line.ts";
import { TuttiError } from "../protocol/error.ts";
import { isTerminal } from "../protocol/task/task-status.ts";
import { escapeControls } from "./escape-controls.ts";

/** A program that has to run in the person's checkout. Its arguments are read by no shell. */
export interface ProgramStep {
  readonly argv: readonly [program: string, ...args: string[]];
  readonly cwd: string;
  readonly timeoutMs: number;
}

/** `code` is null when the program was ended by a signal, or could not be started. */
export interface ProgramOutput {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Whoever goes through the steps runs each program and gives back what it said. */
export type ProgramSteps<T> = Generator<ProgramStep, T, ProgramOutput>;

export interface PullRequestWork {
  readonly workspace: WorkspaceView;
  readonly diff: WorkspaceDiff;
}

export interface WantedPullRequest {
  readonly remote: string;
  readonly base?: string | undefined;
  readonly title?: string | undefined;
}

const PullRequest = z.object({
  number: z.int(),
  url: z.string(),
  state: z.string(),
  headRefName: z.string(),
  headRefOid: z.string(),
  baseRefName: z.string(),
});
export type PullRequest = z.infer<typeof PullRequest>;

const shortMs = 60_000;
const pushMs = 5 * 60_000;

/** Changes nothing. */
export function* planPullRequest(
  { workspace, diff }: PullRequestWork,
  { remote, base, title }: WantedPullRequest,
): ProgramSteps<PullRequestPlan> {
  const { task, attempt } = workspace;
  const { repository, branch } = pushable(workspace, diff);
  const run = { cwd: repository, timeoutMs: shortMs };
  const gh = yield { ...run, argv: ["gh", "--version"] };
  if (gh.code !== 0) throw noGh(argvLine(["git", "-C", repository, "push", remote, branch]));
  // A remote may push to several places, and all of them are named.
  const found = yield { ...run, argv: ["git", "remote", "get-url", "--push", "--all", remote] };
  if (found.code !== 0) {
    throw new TuttiError(
      "not_found",
      `the repository ${repository} has no remote ${remote}; name one with --remote (\`remote\` in the API)`,
    );
  }
  const { tip, total, verification, uncommitted } = diff;
  return {
    task,
    attempt,
    branch,
    tip,
    remote,
    url: found.out.trim().split("\n").map(withoutPassword).join(" and "),
    title: titleOf(title ?? diff.commits.at(-1)?.subject ?? "") || branch,
    base: base ?? null,
    commits: total.commits,
    verification,
    protected: diff.protected,
    uncommitted,
  };
}

function pushable(
  { task, task_status, mode, repository, branch }: WorkspaceView,
  { total }: WorkspaceDiff,
): { readonly repository: string; readonly branch: string } {
  if (task_status !== null && !isTerminal(task_status)) {
    throw new TuttiError(
      "conflict",
      `${task} is not over: it is ${task_status}; wait until it has ended, or cancel it`,
    );
  }
  if (mode !== "worktree" || repository === null || branch === null) {
    throw new TuttiError("conflict", `${task} has no branch of its own, so there is nothing to push`);
  }
  if (total.commits === 0) throw new TuttiError("conflict", `there is no commit on ${branch} to push`);
  if (!BranchName.safeParse(branch).success) {
    throw new TuttiError("conflict", `${branch} is a name that Tutti does not push; push the branch with git itself`);
  }
  return { repository, branch };
}

/** Pushes what the plan names and nothing else, opens the pull request, and looks up what came of it. */
export function* openPullRequest(
  plan: PullRequestPlan,
  { workspace, diff }: PullRequestWork,
): ProgramSteps<{ readonly made: PullRequest; readonly existed: boolean }> {
  const { branch, tip, remote, title, base, url } = plan;
  const { repository } = pushable(workspace, diff);
  const run = { cwd: repository, timeoutMs: shortMs };
  const pushed = yield {
    cwd: repository,
    timeoutMs: pushMs,
    // Settings of the person that would push more than the plan names do not count here.
    argv: [
      ...(["git", "push", "--no-follow-tags", "--recurse-submodules=no"] as const),
      "--",
      remote,
      `${tip}:refs/heads/${branch}`,
    ],
  };
  if (pushed.code !== 0) throw new TuttiError("io", `git push failed: ${lastLine(pushed.err)}`);
  const created = yield {
    ...run,
    argv: [
      ...(["gh", "pr", "create"] as const),
      `--head=${branch}`,
      `--title=${title}`,
      `--body=${bodyOf(workspace, diff)}`,
      ...(base === null ? [] : [`--base=${base}`]),
    ],
  };
  // What GitHub has, not what creating it printed.
  const fields = Object.keys(PullRequest.shape).join(",");
  const viewed = yield { ...run, argv: ["gh", "pr", "view", branch, "--json", fields] };
  if (viewed.code !== 0) {
    const why = lastLine(created.err) || "gh says that there is none";
    throw new TuttiError("io", `${branch} was pushed to ${url}, but no pull request was found: ${why}`);
  }
  const made = readPullRequest(viewed.out);
  if (made.state !== "OPEN" || made.headRefOid !== tip || (base !== null && made.baseRefName !== base)) {
    throw new TuttiError(
      "conflict",
      `the pull request ${made.url} is not the one that was asked for: it is ${made.state}, has ${made.headRefOid.slice(0, 8)} instead of ${tip.slice(0, 8)}, and goes into ${made.baseRefName}`,
    );
  }
  return { made, existed: created.code !== 0 };
}

function readPullRequest(text: string): PullRequest {
  try {
    return PullRequest.parse(JSON.parse(text));
  } catch (cause) {
    throw new TuttiError("io", "gh told of a pull request in a form that is not understood; update gh", { cause });
  }
}

function noGh(instead: string): TuttiError {
  return new TuttiError(
    "not_found",
    `the GitHub CLI (gh) is not installed; install it from https://cli.github.com, or push the branch with \`${instead}\``,
  );
}

/** Subjects come from a model. As code, they mention nobody and link nowhere. */
function bodyOf({ kind, task, attempt }: WorkspaceView, { commits, tip, verification }: WorkspaceDiff): string {
  const listed = commits.slice(0, 50).map(({ subject }) => `- \`${oneLine(subject).replaceAll("`", "'")}\``);
  const whose = kind === "integration" ? `${task} and the tasks below it` : `${task}, attempt ${attempt}`;
  const proven =
    verification.state === "verified" ? `Tutti verified the commit ${tip.slice(0, 12)}.` : "Tutti has not verified it.";
  return [`Work of ${whose}. ${proven}`, "", ...listed].join("\n");
}

function titleOf(text: string): string {
  return oneLine(text).trim().slice(0, 200).trim();
}

function withoutPassword(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");
}

function lastLine(text: string): string {
  return oneLine(text.trim().split("\n").at(-1) ?? "");
}

function oneLine(text: string): string {
  return escapeControls(text).replaceAll(/\r?\n/g, "\\n").replaceAll("\t", "\\t");
}
