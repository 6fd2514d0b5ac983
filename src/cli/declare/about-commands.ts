// Declares the commands about Tutti itself: its version, its help, and completion in a shell.
import { Argument, type Command } from "commander";

import type { Host } from "../../host/host.ts";
import type { CompletionOptions, Shell } from "../commands/completion.ts";
import type { VersionOptions } from "../commands/version-command.ts";
import { lookedUp, type LookedUp } from "../completion/completion-table.ts";
import { jsonOption } from "../options.ts";

export function declareAboutCommands(program: Command, host: () => Promise<Host>): void {
  program.helpCommand("help [command]", "show the help of a command");
  program
    .command("version")
    .description("print the version")
    .addOption(jsonOption())
    .action(async (options: VersionOptions) => {
      const { versionCommand } = await import("../commands/version-command.ts");
      await versionCommand(options);
    });
  program
    .command("completion")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .description("print a script that completes commands, options, tasks and agents in a shell")
    .addOption(jsonOption())
    .action(async (shell: Shell, options: CompletionOptions) => {
      const { completionCommand } = await import("../commands/completion.ts");
      await completionCommand(program, shell, options);
    });
  program
    .command("__complete", { hidden: true })
    .addArgument(new Argument("<what>").choices(lookedUp))
    .argument("[words...]")
    .action(async (what: LookedUp, words: readonly string[]) => {
      const { completeValues } = await import("../completion/complete-values.ts");
      await completeValues(await host(), what, words);
    });
}
