// `tutti merge`: merges the branch of a task into a branch of the person's choice.
import { z } from "zod";

import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { runHere } from "../run-program-here.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { isYes } from "../terminal/question-text.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { canPrompt, prompt } from "../terminal/terminal-prompt.ts";
import { counted } from "../terminal/units.ts";
import { type AttemptOptions, findWorkspaceTask, withWorkspaces } from "../with-workspaces.ts";

export interface MergeOptions extends AttemptOptions {
  readonly unverified?: boolean;
  readonly checkedOut?: boolean;
  /** Protected files whose changes the person approves. */
  readonly protected?: readonly string[];
}

interface Merge {
  /** The newest tree when absent. */
  readonly task: string | undefined;
  /** The branch that is checked out here when absent. */
  readonly into: string | undefined;
}

const said = {
  up_to_date: "has everything already",
  fast_forward: "was moved forward",
  merge: "got a merge commit",
} as const;

export async function mergeCommand(host: Host, given: Merge, options: MergeOptions): Promise<void> {
  const { task: named, into } = await mergeOf(given);
  await withWorkspaces(host, options, async (tutti) => {
    const task = await findWorkspaceTask(tutti, named);
    const wanted = {
      into,
      attempt: options.attempt,
      protected: [...(options.protected ?? [])],
      unverified: options.unverified === true,
      allow_checked_out: options.checkedOut === true,
    };
    const merged = await tutti.mergeTask(task, wanted).catch(async (thrown: unknown) => {
      if (options.json === true || !(await agrees(into, thrown))) throw thrown;
      return tutti.mergeTask(task, { ...wanted, allow_checked_out: true });
    });
    if (options.json === true) return writeJson(merged);
    const { branch, how, commit, uncommitted } = merged;
    await writeLine(`${printableName(branch)} is merged: ${into} ${said[how]} (${commit.slice(0, 8)})`);
    if (merged.verification.state !== "verified")
      warn(`merged unverified: ${printableName(merged.verification.reason)}`);
    for (const warning of merged.warnings) warn(printableName(warning));
    if (uncommitted.length > 0) {
      warn(
        `${counted(uncommitted.length, "file")} with uncommitted work was not merged: ${uncommitted.slice(0, 5).map(printableName).join(", ")}`,
      );
    }
  });
}

/** With one word, an id or `last` is the task, and anything else is the branch. */
async function mergeOf({ task, into }: Merge): Promise<{ readonly task: string; readonly into: string }> {
  const isTask = task === undefined || into !== undefined || task === "last" || /^(?:tsk|gol)_/.test(task);
  if (!isTask) return { task: "last", into: task };
  return { task: task ?? "last", into: into ?? (await branchHere()) };
}

async function branchHere(): Promise<string> {
  const { code, out } = await runHere(["git", "symbolic-ref", "--quiet", "--short", "HEAD"], process.cwd());
  const branch = out.trim();
  if (code === 0 && branch !== "") return branch;
  throw new TuttiError("usage", "name the branch to merge into: no branch is checked out in this folder");
}

const NeedsCheckout = z.object({ checked_out: z.string() });

/** Asks whether a checkout may be changed, where that is all that a merge lacks and somebody is there to say so. */
async function agrees(into: string, thrown: unknown): Promise<boolean> {
  if (!(thrown instanceof TuttiError)) return false;
  const folder = NeedsCheckout.safeParse(thrown.details).data?.checked_out;
  if (folder === undefined || !canPrompt()) return false;
  const question = `${printableName(into)} is checked out at ${printableName(folder)}, and merging changes the files there.`;
  return isYes(await prompt(`${question}\nMerge? y for yes, n (or Enter) for no\n> `));
}
