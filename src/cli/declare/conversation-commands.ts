// Declares the commands that talk with the manager, and those of threads.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { ChatOptions } from "../commands/chat.ts";
import type { ThreadsForkOptions } from "../commands/threads-fork.ts";
import type { ThreadsShowOptions } from "../commands/threads-show.ts";
import type { ThreadsOptions } from "../commands/threads-command.ts";
import { jsonOption, limitOption, noInputOption, projectOption, stateOption, waitOption } from "../options.ts";

export function declareConversationCommands(program: Command, host: () => Promise<Host>): void {
  program
    .command("chat")
    .argument("[message...]", "what to say; - to read it from standard input; without it you type on the terminal")
    .description(
      "talk with the manager about goals, tasks and sessions; it asks before it does what a session suggested",
    )
    .option("-c, --continue", "go on with the newest conversation")
    .option("--conversation <id>", "go on with this conversation")
    .option("--model <name>", "the model that answers, as provider/model (default: the default model of the project)")
    .option("--script <file>", "replies of the model from a script, so that no model is called")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(noInputOption())
    .addOption(waitOption())
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (words: readonly string[], options: ChatOptions) => {
      const { chatCommand } = await import("../commands/chat.ts");
      await chatCommand(await host(), words, options);
    });
  declareThreads(program, host);
}

function declareThreads(program: Command, host: () => Promise<Host>): void {
  const threads = program
    .command("threads")
    // So that options after `show` are those of `show`.
    .enablePositionalOptions()
    .description("list the conversations that go on after their tasks, the latest first")
    .option("--limit <n>", "list at most this many, up to 200 (default: 50)", Number)
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: ThreadsOptions) => {
      const { threadsCommand } = await import("../commands/threads-command.ts");
      await threadsCommand(await host(), options);
    });
  threads
    .command("show")
    .argument("<thread>", "the name or the id of the thread, or `last`")
    .description("print what was said in a thread, with the id of each message")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (thread: string, options: ThreadsShowOptions) => {
      const { threadsShowCommand } = await import("../commands/threads-show.ts");
      await threadsShowCommand(await host(), thread, options);
    });
  threads
    .command("fork")
    .argument("<thread>", "the name or the id of the thread, or `last`")
    .description("copy a thread, so that another conversation goes on from there")
    .option("--at <message>", "only up to the message with this id")
    .option("--name <name>", "the name of the copy")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (thread: string, options: ThreadsForkOptions) => {
      const { threadsForkCommand } = await import("../commands/threads-fork.ts");
      await threadsForkCommand(await host(), thread, options);
    });
}
