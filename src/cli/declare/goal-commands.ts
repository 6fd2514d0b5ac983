// Declares the commands for goals.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { GoalOptions } from "../commands/goal-command.ts";
import type { GoalsOptions } from "../commands/goals-command.ts";
import type { ReportOptions } from "../commands/report.ts";
import type { RunGoalOptions } from "../commands/run-goal.ts";
import {
  catchUpOption,
  everyOption,
  goalArgument,
  jsonOption,
  limitOption,
  noInputOption,
  positiveInteger,
  stateOption,
  waitOption,
  yesOption,
} from "../options.ts";
import { criteriaOf } from "./criteria-options.ts";

export function declareGoalCommands(program: Command, host: () => Promise<Host>): void {
  const run = program
    .command("run")
    .argument("[goal]", "what you want; - to read it from standard input; may be left out with --from-issue")
    .description(
      "hand a goal to the manager: it splits the goal, has each task done and verified, and reports; Ctrl-C leaves, and the work goes on",
    )
    .option("--accept <text>", "what must be true in the end; repeatable", collect)
    .option("--by <command>", "the check that proves the --accept directly before it; it runs without asking")
    .option("--check <command>", "a command that must succeed on the result; repeatable, runs without asking", collect)
    .option(
      "--from-issue <url>",
      "the goal is to resolve this issue, read with `gh`; what became of it is posted there, once you agreed",
    )
    .option("--plan", "show the tasks, who would do them and what they may cost, and wait for a yes")
    .option("--cwd <folder>", "the folder the goal may touch (default: the current folder)")
    .option("--model <name>", "[runner:]model for all tasks, instead of what the policy says")
    .option("--runner <name>", "who does all tasks: a coding agent as acp:PROFILE[/MODEL], or local with --model")
    .option("--manager-model <name>", "the model that splits the goal")
    .option("--policy <file>", "a routing policy for this goal, in TOON or JSON")
    .option(
      "--budget <limit>",
      "what all of it may use: money=2.50 (US dollars), tokens=1000000, time=30m, tasks=20, concurrency=4; repeatable",
      collect,
    )
    .option("--rounds <count>", "how often the goal is split anew after failures, until you are asked", positiveInteger)
    .option("--script <file>", "a rehearsal script in JSON, for the model rehearsal/script")
    .option(
      "--label <label>",
      "a label that the node must have which runs it, where there are several; repeatable",
      collect,
    )
    .addOption(stateOption())
    .option("--new", "start anew even if the same goal is under way")
    .addOption(everyOption())
    .addOption(catchUpOption())
    .option("--detach", "print the id of the goal and return; the daemon does the work")
    .option("--quiet", "do not show the progress")
    .addOption(noInputOption())
    .addOption(waitOption())
    .addOption(yesOption())
    .option("--json", "print every event as a line of JSON, and last the report")
    .addOption(limitOption());
  const criteria = criteriaOf(run);
  run.action(async (goal: string | undefined, options: Omit<RunGoalOptions, "criteria">) => {
    const { runGoalCommand } = await import("../commands/run-goal.ts");
    await runGoalCommand(await host(), goal, { ...options, criteria: criteria() });
  });
  program
    .command("goals")
    .description("list the goals, newest first: how each stands, and why")
    .option("-n, --limit <count>", "list at most this many", positiveInteger, 20)
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: GoalsOptions) => {
      const { goalsCommand } = await import("../commands/goals-command.ts");
      await goalsCommand(await host(), options);
    });
  program
    .command("goal")
    .argument("<goal>", goalArgument)
    .description("show a goal: its criteria with their proof, its tasks with route, evidence and branch, its questions")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (goal: string, options: GoalOptions) => {
      const { goalCommand } = await import("../commands/goal-command.ts");
      await goalCommand(await host(), goal, options);
    });
  program
    .command("report")
    .argument("<goal>", goalArgument)
    .description("print the report of a goal as Markdown: each criterion with its proof, what is not proven, the tasks")
    .option("--output <file>", "write it to this file instead")
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
