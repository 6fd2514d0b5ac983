// `tutti pr`: pushes the branch of a task and opens a pull request with the GitHub CLI, after a person agreed on the terminal.
import { z } from "zod";

import type { Host } from "../../host/host.ts";
import { BranchName, type WorkspaceDiff, type WorkspaceView } from "../../protocol/api/workspace-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { runHere } from "../run-program-here.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { note, writeJson, writeUnbroken } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { canPrompt, prompt } from "../terminal/terminal-prompt.ts";
import { counted } from "../terminal/units.ts";
import { type AttemptOptions, findWorkspaceTask, withWorkspaces } from "../with-workspaces.ts";

export interface PrOptions extends AttemptOptions {
  readonly base?: string;
  readonly title?: string;
  readonly remote: string;
}

interface Work {
  readonly workspace: WorkspaceView;
  readonly diff: WorkspaceDiff;
}

interface Plan {
  readonly repository: string;
  readonly branch: string;
  readonly tip: string;
  readonly remote: string;
  /** Without a password that it may have. */
  readonly url: string;
  readonly title: string;
  readonly base: string | undefined;
}

const PullRequest = z.object({
  number: z.int(),
  url: z.string(),
  state: z.string(),
  headRefName: z.string(),
  headRefOid: z.string(),
  baseRefName: z.string(),
});
type PullRequest = z.infer<typeof PullRequest>;

export async function prCommand(host: Host, given: string, options: PrOptions): Promise<void> {
  let work: Work | undefined;
  await withWorkspaces(host, options, async (tutti) => {
    const task = await findWorkspaceTask(tutti, given);
    const { attempt } = options;
    const workspace = await tutti.taskWorkspace(task, { attempt });
    work = { workspace, diff: await tutti.workspaceDiff(task, { patch_bytes: 0, attempt }) };
  });
  if (work === undefined) return;
  const plan = await planOf(work, options);
  await confirm(plan, work);
  const made = await open(plan, work);
  if (options.json === true) return writeJson(made);
  await writeUnbroken(made.url);
  note(dim(`#${made.number} from ${printableName(made.headRefName)} into ${printableName(made.baseRefName)}`));
}

async function planOf({ workspace, diff }: Work, options: PrOptions): Promise<Plan> {
  const { repository, branch, mode, task, task_status } = workspace;
  const { base, remote } = options;
  if (task_status !== null && !isTerminal(task_status)) {
    throw new TuttiError(
      "conflict",
      `${task} is not over: it is ${task_status}; wait until it has ended, or cancel it`,
    );
  }
  if (mode !== "worktree" || repository === null || branch === null) {
    throw new TuttiError("conflict", `${task} has no branch of its own, so there is nothing to push`);
  }
  if (diff.total.commits === 0) throw new TuttiError("conflict", `there is no commit on ${branch} to push`);
  for (const name of [branch, ...(base === undefined ? [] : [base])]) {
    if (!BranchName.safeParse(name).success) throw new TuttiError("usage", `${name} is not the name of a branch`);
  }
  if (!/^[A-Za-z0-9][\w./-]*$/.test(remote)) throw new TuttiError("usage", `${remote} is not the name of a remote`);
  await needGh(repository, `git -C '${repository}' push ${remote} ${branch}`);
  const found = await runHere(["git", "remote", "get-url", "--push", remote], repository);
  if (found.code !== 0) {
    throw new TuttiError("not_found", `the repository ${repository} has no remote ${remote}; name one with --remote`);
  }
  const title = printableName(options.title ?? diff.commits.at(-1)?.subject ?? branch).slice(0, 200);
  return { repository, branch, tip: diff.tip, remote, url: withoutPassword(found.out.trim()), title, base };
}

async function needGh(repository: string, instead: string): Promise<void> {
  const missing = new TuttiError(
    "not_found",
    `the GitHub CLI (gh) is not installed; install it from https://cli.github.com, or push the branch with \`${instead}\``,
  );
  const { code } = await runHere(["gh", "--version"], repository).catch(() => {
    throw missing;
  });
  if (code !== 0) throw missing;
}

/** Only a person at a terminal can agree: what is pushed cannot be taken back. */
async function confirm({ branch, tip, url, title, base }: Plan, { diff }: Work): Promise<void> {
  if (!canPrompt()) {
    throw new TuttiError("needs_input", "nothing was pushed: a person has to agree to it on a terminal");
  }
  if (diff.uncommitted.length > 0)
    warn(`${counted(diff.uncommitted.length, "file")} with uncommitted work is not pushed`);
  if (diff.protected.length > 0) {
    warn(`protected files that nobody has approved: ${diff.protected.slice(0, 20).map(printableName).join(", ")}`);
  }
  const { state, reason } = diff.verification;
  const verified = state === "verified" ? "Tutti verified this commit" : "Tutti has not verified this work";
  const commits = `${counted(diff.total.commits, "commit")}, up to ${tip.slice(0, 8)}`;
  const answer = await prompt(
    [
      "This leaves your machine:",
      `  push  ${printableName(branch)} (${commits}) to ${printableName(url)}`,
      `  open  a pull request into ${printableName(base ?? "the default branch")}: ${title}`,
      `${verified}: ${printableName(reason)}`,
      "Agree? y, or n (or Enter) for no: ",
    ].join("\n"),
  );
  if (!/^y(?:es)?$/i.test(answer?.trim() ?? "")) throw new TuttiError("canceled", "nothing was pushed");
}

async function open(plan: Plan, { workspace, diff }: Work): Promise<PullRequest> {
  const { repository, branch, tip, remote, title, base } = plan;
  // The commit that the person agreed to, also when the branch has moved since.
  const pushed = await runHere(["git", "push", remote, `${tip}:refs/heads/${branch}`], repository);
  if (pushed.code !== 0) throw new TuttiError("io", `git push failed: ${lastLine(pushed.err)}`);
  const created = await runHere(
    [
      ...(["gh", "pr", "create"] as const),
      `--head=${branch}`,
      `--title=${title}`,
      `--body=${bodyOf(workspace, diff)}`,
      ...(base === undefined ? [] : [`--base=${base}`]),
    ],
    repository,
  );
  const found = await lookUp(plan);
  if (found === undefined) {
    const why = lastLine(created.err) || "gh says that there is none";
    throw new TuttiError("io", `${branch} was pushed to ${plan.url}, but no pull request was found: ${why}`);
  }
  if (found.state !== "OPEN" || found.headRefOid !== tip || (base !== undefined && found.baseRefName !== base)) {
    throw new TuttiError(
      "conflict",
      `the pull request ${found.url} is not the one that was asked for: it is ${found.state}, has ${found.headRefOid.slice(0, 8)} instead of ${tip.slice(0, 8)}, and goes into ${found.baseRefName}`,
    );
  }
  if (created.code !== 0) note(dim("the pull request existed already; the branch was pushed to it"));
  return found;
}

/** What GitHub has, not what creating it printed. */
async function lookUp({ branch, repository }: Plan): Promise<PullRequest | undefined> {
  const fields = Object.keys(PullRequest.shape).join(",");
  const { code, out } = await runHere(["gh", "pr", "view", branch, "--json", fields], repository);
  if (code !== 0) return undefined;
  try {
    return PullRequest.parse(JSON.parse(out));
  } catch (cause) {
    throw new TuttiError("io", "gh told of a pull request in a form that is not understood; update gh", { cause });
  }
}

/** Subjects come from a model. As code, they mention nobody and link nowhere. */
function bodyOf({ kind, task, attempt }: WorkspaceView, { commits, tip, verification }: WorkspaceDiff): string {
  const listed = commits.slice(0, 50).map(({ subject }) => `- \`${printableName(subject).replaceAll("`", "'")}\``);
  const whose = kind === "integration" ? `${task} and the tasks below it` : `${task}, attempt ${attempt}`;
  const proven =
    verification.state === "verified" ? `Tutti verified the commit ${tip.slice(0, 12)}.` : "Tutti has not verified it.";
  return [`Work of ${whose}. ${proven}`, "", ...listed].join("\n");
}

function withoutPassword(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");
}

function lastLine(text: string): string {
  return printableName(text.trim().split("\n").at(-1) ?? "");
}
