// `tutti pr`: pushes the branch of a task and opens a pull request with the GitHub CLI, after a person agreed on the terminal.
import { openPullRequest, planPullRequest, type ProgramSteps, type PullRequestWork } from "../../core/pull-request.ts";
import type { Host } from "../../host/host.ts";
import { PullRequestQuery, type PullRequestPlan } from "../../protocol/api/pull-request-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
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

export async function prCommand(host: Host, given: string, options: PrOptions): Promise<void> {
  const { attempt, base, title, remote } = options;
  const wanted = PullRequestQuery.safeParse({ base, title, remote });
  if (!wanted.success) throw new TuttiError("usage", describeIssues(issuesOf(wanted.error)));
  let work: PullRequestWork | undefined;
  await withWorkspaces(host, options, async (tutti) => {
    const task = await findWorkspaceTask(tutti, given);
    const workspace = await tutti.taskWorkspace(task, { attempt });
    work = { workspace, diff: await tutti.workspaceDiff(task, { patch_bytes: 0, attempt }) };
  });
  if (work === undefined) return;
  const plan = await take(planPullRequest(work, wanted.data));
  await confirm(plan);
  const { made, existed } = await take(openPullRequest(plan, work));
  if (existed) note(dim("the pull request existed already; the branch was pushed to it"));
  if (options.json === true) return writeJson(made);
  await writeUnbroken(made.url);
  note(dim(`#${made.number} from ${printableName(made.headRefName)} into ${printableName(made.baseRefName)}`));
}

/** The programs run here, where the person and their logins are, also when a daemon has the work. */
async function take<T>(steps: ProgramSteps<T>): Promise<T> {
  let at = steps.next();
  while (at.done !== true) {
    const { argv, cwd } = at.value;
    at = steps.next(await runHere(argv, cwd).catch(() => ({ code: null, out: "", err: "" })));
  }
  return at.value;
}

/** Only a person at a terminal can agree: what is pushed cannot be taken back. */
async function confirm(plan: PullRequestPlan): Promise<void> {
  const { branch, tip, url, title, base, verification } = plan;
  if (!canPrompt()) {
    throw new TuttiError("needs_input", "nothing was pushed: a person has to agree to it on a terminal");
  }
  if (plan.uncommitted.length > 0)
    warn(`${counted(plan.uncommitted.length, "file")} with uncommitted work is not pushed`);
  if (plan.protected.length > 0) {
    warn(`protected files that nobody has approved: ${plan.protected.slice(0, 20).map(printableName).join(", ")}`);
  }
  const { state, reason } = verification;
  const verified = state === "verified" ? "Tutti verified this commit" : "Tutti has not verified this work";
  const commits = `${counted(plan.commits, "commit")}, up to ${tip.slice(0, 8)}`;
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
