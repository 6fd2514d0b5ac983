// Declares the commands that start work and take part in it.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { AnswerOptions } from "../commands/answer.ts";
import type { AsksOptions } from "../commands/asks.ts";
import type { CancelOptions } from "../commands/cancel.ts";
import type { InvokeOptions } from "../commands/invoke.ts";
import type { MessageOptions } from "../commands/send-message.ts";
import { jsonOption, limitOption, stateOption } from "../options.ts";

export function addWork(program: Command, host: () => Promise<Host>): void {
  program
    .command("invoke")
    .argument("<file>", "the invocation, JSON; - for standard input")
    .description("run an invocation, by the daemon if one runs, else here; the same file again goes on with it")
    .addOption(stateOption())
    .option("--new", "start another even if the same file has not finished")
    .option("--detach", "return at once with the task's id; a daemon, started if need be, does the work")
    .option("--quiet", "show no progress")
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (file: string, options: InvokeOptions) => {
      const { invokeCommand } = await import("../commands/invoke.ts");
      await invokeCommand(await host(), file, options);
    });
  program
    .command("asks")
    .argument("[task]", "only what this task and those below it ask")
    .description("list the questions that wait for an answer")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string | undefined, options: AsksOptions) => {
      const { asksCommand } = await import("../commands/asks.ts");
      await asksCommand(await host(), task, options);
    });
  program
    .command("answer")
    .argument("<ask>", "its id")
    .argument("[text...]", "the answer: y or n, a choice, or text; asked for on a terminal when absent")
    .description("answer a question, or give the result of a client's own tool; the first answer wins")
    .option("--json-value <json>", "the answer as JSON")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (ask: string, words: readonly string[], options: AnswerOptions) => {
      const { answerCommand } = await import("../commands/answer.ts");
      await answerCommand(await host(), ask, { words, options });
    });
  program
    .command("message")
    .argument("<task>", "its id")
    .argument("<text...>", "what to say; - for standard input")
    .description("say something to a task; it hears it at its next turn")
    .addOption(stateOption())
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (task: string, words: readonly string[], options: MessageOptions) => {
      const { messageCommand } = await import("../commands/send-message.ts");
      await messageCommand(await host(), task, { words, options });
    });
  program
    .command("cancel")
    .argument("<task>", "its id")
    .description("cancel a task and all below it")
    .option("--reason <text>", "why", "canceled from the command line")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: CancelOptions) => {
      const { cancelCommand } = await import("../commands/cancel.ts");
      await cancelCommand(await host(), task, options);
    });
}
