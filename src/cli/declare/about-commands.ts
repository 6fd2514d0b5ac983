// Declares the commands about Tutti itself: its version and its help.
import type { Command } from "commander";

import type { VersionOptions } from "../commands/version-command.ts";
import { jsonOption } from "../options.ts";

export function declareAboutCommands(program: Command): void {
  program.helpCommand("help [command]", "show the help of a command");
  program
    .command("version")
    .description("print the version")
    .addOption(jsonOption())
    .action(async (options: VersionOptions) => {
      const { versionCommand } = await import("../commands/version-command.ts");
      await versionCommand(options);
    });
}
