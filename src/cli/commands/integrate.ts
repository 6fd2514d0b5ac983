// `tutti integrate`: merges the work of several tasks into one branch, in a worktree of its own.
import type { Host } from "../../host/host.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { findWorkspaceTask, withWorkspaces, type WorkspacesOptions } from "../with-workspaces.ts";

export async function integrateCommand(
  host: Host,
  given: readonly string[],
  options: WorkspacesOptions,
): Promise<void> {
  await withWorkspaces(host, options, async (tutti) => {
    const tasks: TaskId[] = [];
    for (const each of given) tasks.push(await findWorkspaceTask(tutti, each));
    const made = await tutti.integrateTasks({ tasks });
    if (options.json === true) return writeJson(made);
    await writeLine(`${printableName(made.branch)} has the work of (${made.commit.slice(0, 8)}):`);
    for (const { task, attempt, branch } of made.merged) {
      await writeLine(`  ${task} ${dim(`attempt ${attempt}, ${printableName(branch)}`)}`);
    }
    for (const { task, why } of made.skipped) warn(`${task} is not part of it, because it ${printableName(why)}`);
    for (const warning of made.warnings) warn(printableName(warning));
    note(dim(`look at it with \`tutti diff ${made.task}\`, then \`tutti merge ${made.task} BRANCH\``));
  });
}
