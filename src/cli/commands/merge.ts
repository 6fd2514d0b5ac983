// `tutti merge`: merges the branch of a task into a branch of the person's choice.
import type { Host } from "../../host/host.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { counted } from "../terminal/units.ts";
import { type AttemptOptions, findWorkspaceTask, withWorkspaces } from "../with-workspaces.ts";

export interface MergeOptions extends AttemptOptions {
  readonly unverified?: boolean;
  readonly checkedOut?: boolean;
  /** Protected files whose changes the person approves. */
  readonly protected?: readonly string[];
}

interface Merge {
  readonly task: string;
  readonly into: string;
}

const said = {
  up_to_date: "has everything already",
  fast_forward: "was moved forward",
  merge: "got a merge commit",
} as const;

export async function mergeCommand(host: Host, { task: given, into }: Merge, options: MergeOptions): Promise<void> {
  await withWorkspaces(host, options, async (tutti) => {
    const task = await findWorkspaceTask(tutti, given);
    const merged = await tutti.mergeTask(task, {
      into,
      attempt: options.attempt,
      protected: [...(options.protected ?? [])],
      unverified: options.unverified === true,
      allow_checked_out: options.checkedOut === true,
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
