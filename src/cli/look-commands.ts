// Declares the commands that look at what there is, and the one that removes what is over.
import type { Command } from "commander";

import type { Opener } from "../client/client.ts";
import type { LogsOptions } from "./logs.ts";
import { jsonLinesOption, jsonOption, positive, stateOption } from "./options.ts";
import type { PruneOptions } from "./prune.ts";
import type { ShowOptions } from "./show.ts";
import type { TasksOptions } from "./tasks.ts";

export function addLooking(program: Command, opener: () => Promise<Opener>): void {
  program
    .command("tasks")
    .description("list the trees, newest first, and the questions that are open")
    .addOption(stateOption())
    .option("-n, --limit <count>", "how many", positive, 20)
    .option("--all", "every task, not only the roots of the trees")
    .addOption(jsonOption())
    .action(async (options: TasksOptions) => {
      const { tasksCommand } = await import("./tasks.ts");
      await tasksCommand(await opener(), options);
    });
  program
    .command("show")
    .argument("<task>", "its id")
    .description("show a task: its tree, what happened, what it cost, its result")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: ShowOptions) => {
      const { showCommand } = await import("./show.ts");
      await showCommand(await opener(), task, options);
    });
  program
    .command("logs")
    .argument("[task]", "its id; every task when absent")
    .description("print the events of a task and all below it, or of everything")
    .addOption(stateOption())
    .option("-f, --follow", "go on until the tree is over; without a task, until you leave")
    .addOption(jsonLinesOption())
    .action(async (task: string | undefined, options: LogsOptions) => {
      const { logsCommand } = await import("./logs.ts");
      await logsCommand(await opener(), task, options);
    });
  program
    .command("export")
    .argument("<task>", "its id")
    .description("print a task and all below it as JSON lines")
    .addOption(stateOption())
    .addOption(jsonLinesOption())
    .action(async (task: string, options: { readonly state?: string }) => {
      const { exportCommand } = await import("./export.ts");
      await exportCommand(await opener(), task, options);
    });
  program
    .command("prune")
    .description("remove finished trees")
    .option("--older <age>", "those that ended longer ago than this, such as 30d")
    .option("--max-size <size>", "then the oldest, until the state is at most this large, such as 500M")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: PruneOptions) => {
      const { pruneCommand } = await import("./prune.ts");
      await pruneCommand(await opener(), options);
    });
}
