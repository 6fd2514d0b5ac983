// Declares the commands that work with the workspaces of sessions and with what came of the work.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { DiffOptions } from "../commands/diff.ts";
import type { MergeOptions } from "../commands/merge.ts";
import type { OpenOptions } from "../commands/open.ts";
import type { PrOptions } from "../commands/pr.ts";
import type { WorkspacesPruneOptions } from "../commands/workspaces-prune.ts";
import type { WorkspacesRemoveOptions } from "../commands/workspaces-remove.ts";
import type { ShowOptions } from "../show-dashboard.ts";
import { attemptOption, jsonOption, stateOption, taskArgument } from "../options.ts";
import type { WorkspacesOptions } from "../with-workspaces.ts";

export function declareWorkspaceCommands(program: Command, host: () => Promise<Host>): void {
  const workspaces = program
    .command("workspaces")
    // So that options after `prune` are those of `prune`.
    .enablePositionalOptions()
    .description("list the folders in which sessions work: what is left in each, its size and its branch")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: WorkspacesOptions) => {
      const { workspacesCommand } = await import("../commands/workspaces.ts");
      await workspacesCommand(await host(), options);
    });
  workspaces
    .command("prune")
    .description("remove workspaces by age and size; never one that is in use or has uncommitted work; branches stay")
    .option("--older-than <age>", "remove those that were not used for this long, such as 7d (default: `keep_days`)")
    .option(
      "--max-size <size>",
      "then remove the oldest until all take at most this, such as 10G (default: `max_size`)",
    )
    .option("--dry-run", "only tell what would be removed")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: WorkspacesPruneOptions) => {
      const { workspacesPruneCommand } = await import("../commands/workspaces-prune.ts");
      await workspacesPruneCommand(await host(), options);
    });
  workspaces
    .command("remove")
    .argument("<id>", "the id of the workspace, from `tutti workspaces`")
    .description("remove a workspace; its branch stays, and uncommitted work is refused unless you say what to do")
    .option("--save", "keep uncommitted work in a ref of the repository")
    .option("--discard", "lose uncommitted work")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (id: string, options: WorkspacesRemoveOptions) => {
      const { workspacesRemoveCommand } = await import("../commands/workspaces-remove.ts");
      await workspacesRemoveCommand(await host(), id, options);
    });
  program
    .command("diff")
    .argument("[task]", taskArgument, "last")
    .description("show the commits and the patch of a task; piped, the patch alone, for `git apply`")
    .option("--stat", "only the commits and the changed files")
    .addOption(attemptOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: DiffOptions) => {
      const { diffCommand } = await import("../commands/diff.ts");
      await diffCommand(await host(), task, options);
    });
  program
    .command("open")
    .argument("[task]", taskArgument)
    .description(
      "show the dashboard in the browser; with a task, print the folder of its workspace or start $EDITOR there",
    )
    .option("--print", "print an address that opens the dashboard, signed in; it works once, for a minute")
    .option("--editor <command>", "start this instead of $EDITOR, such as `code`; no shell reads it")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string | undefined, options: OpenOptions & ShowOptions) => {
      if (task === undefined) {
        const { showDashboard } = await import("../show-dashboard.ts");
        return showDashboard(await host(), options);
      }
      if (options.print === true) throw new TuttiError("usage", "--print is for the dashboard; leave the task out");
      const { openCommand } = await import("../commands/open.ts");
      await openCommand(await host(), task, options);
    });
  program
    .command("integrate")
    .argument("<task...>", `${taskArgument}; several are merged in the order given`)
    .description(
      "merge the work of a tree of tasks into one integration branch, in a worktree of its own; diff, merge and pr then work with that branch",
    )
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (tasks: readonly string[], options: WorkspacesOptions) => {
      const { integrateCommand } = await import("../commands/integrate.ts");
      await integrateCommand(await host(), tasks, options);
    });
  program
    .command("merge")
    .argument("[task]", `${taskArgument}; may be left out`)
    .argument("[into]", "the branch to merge into (default: the one that is checked out in this folder)")
    .description(
      "merge the verified work of a task or goal into a branch of yours; a conflict changes nothing and lists the files",
    )
    .option("--unverified", "merge work that Tutti has not verified")
    .option(
      "--protected <file>",
      "approve the change of this protected file, which you have looked at; repeat it for each one",
      (file: string, before: readonly string[] | undefined) => [...(before ?? []), file],
    )
    .option(
      "--checked-out",
      "the branch may be checked out; the checkout must be clean, and is changed (asked on a terminal)",
    )
    .addOption(attemptOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string | undefined, into: string | undefined, options: MergeOptions) => {
      const { mergeCommand } = await import("../commands/merge.ts");
      await mergeCommand(await host(), { task, into }, options);
    });
  program
    .command("pr")
    .argument("<task>", taskArgument)
    .description("push the branch of a task and open a pull request with `gh`, after you agreed on the terminal")
    .option("--base <branch>", "the branch that it goes into (default: that of the repository)")
    .option("--remote <name>", "the remote to push to", "origin")
    .option("--title <text>", "its title (default: that of the first commit)")
    .addOption(attemptOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: PrOptions) => {
      const { prCommand } = await import("../commands/pr.ts");
      await prCommand(await host(), task, options);
    });
}
