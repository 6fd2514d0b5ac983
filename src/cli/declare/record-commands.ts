// Declares the commands that read what is recorded in a state folder, and the one that removes old records.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { AttachOptions } from "../commands/attach.ts";
import type { ExportOptions } from "../commands/export.ts";
import type { ImportOptions } from "../commands/import-command.ts";
import type { LogsOptions } from "../commands/logs.ts";
import type { PruneOptions } from "../commands/prune.ts";
import type { ShowOptions } from "../commands/show.ts";
import type { TasksOptions } from "../commands/tasks.ts";
import type { TranscriptCommandOptions } from "../commands/transcript-command.ts";
import { clusterKeyOption, databaseOption, schemaOption } from "../database-option.ts";
import { jsonLinesOption, jsonOption, positiveInteger, stateOption, taskArgument } from "../options.ts";

export function declareRecordCommands(program: Command, host: () => Promise<Host>): void {
  program
    .command("tasks")
    .description(
      "list the task trees, newest first: how each stands, whom it waits for, what was asked, its age and its cost",
    )
    .addOption(stateOption())
    .option("-n, --limit <count>", "list at most this many", positiveInteger, 20)
    .option("--all", "list every task, not only the root of each tree")
    .addOption(jsonOption())
    .action(async (options: TasksOptions) => {
      const { tasksCommand } = await import("../commands/tasks.ts");
      await tasksCommand(await host(), options);
    });
  program
    .command("show")
    .argument("<task>", taskArgument)
    .description("show an account of a task: what was asked, its tree, the whole conversation, its cost and its result")
    .addOption(stateOption())
    .option("--full", "show long arguments and results of tools whole")
    .addOption(jsonOption())
    .action(async (task: string, options: ShowOptions) => {
      const { showCommand } = await import("../commands/show.ts");
      await showCommand(await host(), task, options);
    });
  program
    .command("transcript")
    .argument("<task>", taskArgument)
    .description("print the conversation of a task and all tasks below it, with whole messages")
    .addOption(stateOption())
    .option("--full", "show long arguments and results of tools whole")
    .addOption(jsonLinesOption())
    .action(async (task: string, options: TranscriptCommandOptions) => {
      const { transcriptCommand } = await import("../commands/transcript-command.ts");
      await transcriptCommand(await host(), task, options);
    });
  program
    .command("attach")
    .argument("<task>", taskArgument)
    .description("show the run of a tree live, and answer its questions; Ctrl-C leaves, and the run goes on")
    .addOption(stateOption())
    .option("--last <count>", "begin with this many of the last messages, not at the beginning", positiveInteger)
    .addOption(jsonOption())
    .action(async (task: string, options: AttachOptions) => {
      const { attachCommand } = await import("../commands/attach.ts");
      await attachCommand(await host(), task, options);
    });
  program
    .command("logs")
    .argument("[task]", `${taskArgument} (default: every task)`)
    .description("print the events of a task and all tasks below it, or of every task")
    .addOption(stateOption())
    .option("-n, --lines <count>", "print only this many of the latest recorded events", positiveInteger)
    .option("--since <age>", "print only events that are at most this old, such as 10m or 2h")
    .option(
      "-f, --follow",
      "keep printing new events, and what programs print, until the tree has ended; without a task, until Ctrl-C",
    )
    .addOption(jsonLinesOption())
    .action(async (task: string | undefined, options: LogsOptions) => {
      const { logsCommand } = await import("../commands/logs.ts");
      await logsCommand(await host(), task, options);
    });
  program
    .command("export")
    .argument("<task>", `${taskArgument}; with --database, a folder`)
    .description(
      "print a task, all tasks below it and their events as JSON lines, or move a database into a state folder",
    )
    .addOption(stateOption())
    .addOption(databaseOption("move everything in this database into the folder; no node may run on it"))
    .addOption(schemaOption())
    .addOption(clusterKeyOption())
    .addOption(jsonLinesOption())
    .action(async (task: string, options: ExportOptions) => {
      const { exportCommand } = await import("../commands/export.ts");
      await exportCommand(await host(), task, options);
    });
  program
    .command("import")
    .argument("<folder>", "the state folder; nobody may work on it")
    .description("move everything in a state folder into a database that nodes share; all names stay as they are")
    .addOption(databaseOption("the database; no node may run on it"))
    .addOption(schemaOption())
    .addOption(clusterKeyOption())
    .addOption(jsonOption())
    .action(async (folder: string, options: ImportOptions) => {
      const { importCommand } = await import("../commands/import-command.ts");
      await importCommand(await host(), folder, options);
    });
  program
    .command("prune")
    .description("remove finished task trees; unfinished ones are never removed")
    .option("--older <age>", "remove trees that ended longer ago than this, such as 30d")
    .option("--max-size <size>", "then remove the oldest until the state is at most this large, such as 500M")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: PruneOptions) => {
      const { pruneCommand } = await import("../commands/prune.ts");
      await pruneCommand(await host(), options);
    });
}
