// Declares the commands that look at what there is, and the one that removes what is over.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { LogsOptions } from "../commands/logs.ts";
import { jsonLinesOption, jsonOption, positive, stateOption } from "../options.ts";
import type { PruneOptions } from "../commands/prune.ts";
import type { ShowOptions } from "../commands/show.ts";
import type { TasksOptions } from "../commands/tasks.ts";

export function addLookCommands(program: Command, host: () => Promise<Host>): void {
  program
    .command("tasks")
    .description("list the trees, newest first, and the questions that are open")
    .addOption(stateOption())
    .option("-n, --limit <count>", "how many", positive, 20)
    .option("--all", "every task, not only the roots of the trees")
    .addOption(jsonOption())
    .action(async (options: TasksOptions) => {
      const { tasksCommand } = await import("../commands/tasks.ts");
      await tasksCommand(await host(), options);
    });
  program
    .command("show")
    .argument("<task>", "its id")
    .description("show a task: its tree, what happened, what it cost, its result")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: ShowOptions) => {
      const { showCommand } = await import("../commands/show.ts");
      await showCommand(await host(), task, options);
    });
  program
    .command("logs")
    .argument("[task]", "its id; every task when absent")
    .description("print the events of a task and all below it, or of everything")
    .addOption(stateOption())
    .option("-f, --follow", "go on until the tree is over; without a task, until you leave")
    .addOption(jsonLinesOption())
    .action(async (task: string | undefined, options: LogsOptions) => {
      const { logsCommand } = await import("../commands/logs.ts");
      await logsCommand(await host(), task, options);
    });
  program
    .command("export")
    .argument("<task>", "its id")
    .description("print a task and all below it as JSON lines")
    .addOption(stateOption())
    .addOption(jsonLinesOption())
    .action(async (task: string, options: { readonly state?: string }) => {
      const { exportCommand } = await import("../commands/export.ts");
      await exportCommand(await host(), task, options);
    });
  program
    .command("prune")
    .description("remove finished trees")
    .option("--older <age>", "those that ended longer ago than this, such as 30d")
    .option("--max-size <size>", "then the oldest, until the state is at most this large, such as 500M")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: PruneOptions) => {
      const { pruneCommand } = await import("../commands/prune.ts");
      await pruneCommand(await host(), options);
    });
}
