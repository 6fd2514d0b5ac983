// Declares the commands for goals.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { ReportOptions } from "../commands/report.ts";
import type { RunGoalOptions } from "../commands/run-goal.ts";
import {
  catchUpOption,
  everyOption,
  jsonOption,
  limitOption,
  noInputOption,
  stateOption,
  waitOption,
  yesOption,
} from "../options.ts";

export function declareGoalCommands(program: Command, host: () => Promise<Host>): void {
  program
    .command("run")
    .argument("<goal>", "what you want; - to read it from standard input")
    .description("hand a goal to the manager: it splits the goal, has each task done and verified, and reports")
    .option("--accept <text>", "what must be true in the end; repeatable", collect)
    .option("--check <command>", "a command that must succeed on the result; repeatable, runs without asking", collect)
    .option("--plan", "show the tasks, who would do them and what they may cost, and wait for a yes")
    .option("--cwd <folder>", "the folder the goal may touch (default: the current folder)")
    .option("--model <name>", "[runner:]model for all tasks, instead of what the policy says")
    .option("--manager-model <name>", "the model that splits the goal")
    .option("--policy <file>", "a routing policy for this goal")
    .option("--script <file>", "a rehearsal script in JSON, for the model rehearsal/script")
    .addOption(stateOption())
    .option("--new", "start anew even if the same goal is under way")
    .addOption(everyOption())
    .addOption(catchUpOption())
    .option("--detach", "print the id of the task and return; the daemon does the work, and is started if need be")
    .option("--quiet", "do not show the progress")
    .addOption(noInputOption())
    .addOption(waitOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (goal: string, options: RunGoalOptions) => {
      const { runGoalCommand } = await import("../commands/run-goal.ts");
      await runGoalCommand(await host(), goal, options);
    });
  program
    .command("report")
    .argument("<goal>", "the id of the goal, or of the task of its manager; `last` for the newest")
    .description("print the report of a goal as Markdown: each criterion with its proof, what is not proven, the tasks")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (goal: string, options: ReportOptions) => {
      const { reportCommand } = await import("../commands/report.ts");
      await reportCommand(await host(), goal, options);
    });
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
