// Declares the commands that start tasks and take part in them.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { AnswerOptions } from "../commands/answer.ts";
import type { AsksOptions } from "../commands/asks.ts";
import type { RevokeOptions } from "../commands/approvals-revoke.ts";
import type { CancelOptions } from "../commands/cancel.ts";
import type { InvokeOptions } from "../commands/invoke.ts";
import type { RetryOptions } from "../commands/retry-command.ts";
import type { MessageOptions } from "../commands/message-command.ts";
import type { SchedulesRemoveOptions } from "../commands/schedules-remove.ts";
import type { WorkspacesOptions } from "../with-workspaces.ts";
import {
  catchUpOption,
  everyOption,
  jsonOption,
  limitOption,
  noInputOption,
  stateOption,
  taskArgument,
  waitOption,
  yesOption,
} from "../options.ts";
import type { ApprovalsOptions } from "../with-approvals.ts";

export function declareTaskCommands(program: Command, host: () => Promise<Host>): void {
  declareSchedules(program, host);
  program
    .command("invoke")
    .argument(
      "<file>",
      "the invocation, a JSON file, with its own agents or naming those of the project; - to read standard input",
    )
    .description("run an invocation, through the daemon if one runs; after an interruption, the same command goes on")
    .option("--cwd <folder>", "where relative paths of the invocation begin (default: the current folder)")
    .addOption(stateOption())
    .option("--new", "start a new run even if the same invocation is unfinished")
    .option(
      "--label <label>",
      "a label that the node must have which runs it, where there are several; repeatable",
      (label: string, before: readonly string[] | undefined) => [...(before ?? []), label],
    )
    .option("--detach", "print the id of the task and return; the daemon does the work, and is started if need be")
    .addOption(everyOption())
    .addOption(catchUpOption())
    .option("--quiet", "do not show progress")
    .addOption(noInputOption())
    .addOption(waitOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (file: string, options: InvokeOptions) => {
      const { invokeCommand } = await import("../commands/invoke.ts");
      await invokeCommand(await host(), file, options);
    });
  program
    .command("asks")
    .argument("[task]", "only questions of this task and the tasks below it (default: every task)")
    .description("list the questions that wait for an answer")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string | undefined, options: AsksOptions) => {
      const { asksCommand } = await import("../commands/asks.ts");
      await asksCommand(await host(), task, options);
    });
  program
    .command("answer")
    .argument("<ask>", "the id of the question, a unique beginning of it, or `last` for the newest that is open")
    .argument(
      "[text...]",
      "the answer: y or n, a (always) or a: PATTERN for an approval, one of the choices, or text; without it, you are asked on the terminal",
    )
    .description("answer a question, or give the result of a tool that the client runs; the first answer counts")
    .option("--json-value <json>", "the answer as JSON")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (id: string, words: readonly string[], options: AnswerOptions) => {
      const { answerCommand } = await import("../commands/answer.ts");
      await answerCommand(await host(), { id, words }, options);
    });
  const approvals = program
    .command("approvals")
    .description("list and revoke what was allowed for good, with the answer `a` to an approval");
  approvals
    .command("list")
    .description("list the standing approvals of all projects")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: ApprovalsOptions) => {
      const { approvalsListCommand } = await import("../commands/approvals-list.ts");
      await approvalsListCommand(await host(), options);
    });
  approvals
    .command("revoke")
    .argument("[id]", "the id of the standing approval")
    .description("revoke a standing approval, so that you are asked again")
    .option("--all", "revoke all of them")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (id: string | undefined, options: RevokeOptions) => {
      const { approvalsRevokeCommand } = await import("../commands/approvals-revoke.ts");
      await approvalsRevokeCommand(await host(), id, options);
    });
  program
    .command("message")
    .argument("<task>", taskArgument)
    .argument("<text...>", "the message; - to read it from standard input")
    .description("send a message to a task, which reads it at its next turn")
    .option("--interrupt", "end what the task is doing, so that it reads the message at once")
    .addOption(stateOption())
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (task: string, words: readonly string[], options: MessageOptions) => {
      const { messageCommand } = await import("../commands/message-command.ts");
      await messageCommand(await host(), { task, words }, options);
    });
  program
    .command("cancel")
    .argument("<task>", taskArgument)
    .description("cancel a task and all tasks below it, also while no daemon runs")
    .option("--reason <text>", "why it is canceled", "canceled from the command line")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: CancelOptions) => {
      const { cancelCommand } = await import("../commands/cancel.ts");
      await cancelCommand(await host(), task, options);
    });
  program
    .command("retry")
    .argument("<task>", taskArgument)
    .description("do the work of a task again: a root task that is over is started anew, as a new task")
    .option("--give-up", "if the task is not over, give up its attempt with all tasks below it and begin the next")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: RetryOptions) => {
      const { retryCommand } = await import("../commands/retry-command.ts");
      await retryCommand(await host(), task, options);
    });
}

function declareSchedules(program: Command, host: () => Promise<Host>): void {
  const schedules = program
    .command("schedules")
    // So that options after `remove` are those of `remove`.
    .enablePositionalOptions()
    .description("list what is started again and again, with the next time of each")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: WorkspacesOptions) => {
      const { schedulesCommand } = await import("../commands/schedules.ts");
      await schedulesCommand(await host(), options);
    });
  schedules
    .command("remove")
    .argument("<id>", "the id of the schedule, or a unique beginning of it, from `tutti schedules`")
    .description("end a schedule; what it started goes on")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (id: string, options: SchedulesRemoveOptions) => {
      const { schedulesRemoveCommand } = await import("../commands/schedules-remove.ts");
      await schedulesRemoveCommand(await host(), id, options);
    });
}
