// Declares the command that talks with the manager.
import type { Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { ChatOptions } from "../commands/chat.ts";
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
}
