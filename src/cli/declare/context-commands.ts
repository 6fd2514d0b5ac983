// Declares the commands that name daemons elsewhere, so that other commands can work with them.
import type { Command } from "commander";

import type { ContextAddOptions } from "../commands/context-add.ts";
import type { ContextListOptions } from "../commands/context-list.ts";
import type { ContextRemoveOptions } from "../commands/context-remove.ts";
import type { ContextUseOptions } from "../commands/context-use.ts";
import { jsonOption } from "../options.ts";

export function declareContextCommands(program: Command): void {
  const context = program.command("context").description("name daemons elsewhere, and choose one of them");
  context
    .command("add")
    .argument("<name>", "a name for the daemon")
    .description("keep the address and the key of a daemon; without --key-file, the key is asked for or piped in")
    .requiredOption("--url <url>", "the address of the daemon")
    .option("--key-file <file>", "the file that holds the API key; it is read each time, and not copied")
    .option("--insecure", "accept that the key is sent to it without encryption")
    .addOption(jsonOption())
    .action(async (name: string, options: ContextAddOptions) => {
      const { contextAddCommand } = await import("../commands/context-add.ts");
      await contextAddCommand(name, options);
    });
  context
    .command("list")
    .description("list the daemons that have a name; their keys are not shown")
    .addOption(jsonOption())
    .action(async (options: ContextListOptions) => {
      const { contextListCommand } = await import("../commands/context-list.ts");
      await contextListCommand(options);
    });
  context
    .command("use")
    .argument("<name>", "the name of the daemon; local for this machine")
    .description("use this daemon from now on, for every command that names no other")
    .addOption(jsonOption())
    .action(async (name: string, options: ContextUseOptions) => {
      const { contextUseCommand } = await import("../commands/context-use.ts");
      await contextUseCommand(name, options);
    });
  context
    .command("remove")
    .argument("<name>", "the name of the daemon")
    .description("forget a daemon and its key")
    .addOption(jsonOption())
    .action(async (name: string, options: ContextRemoveOptions) => {
      const { contextRemoveCommand } = await import("../commands/context-remove.ts");
      await contextRemoveCommand(name, options);
    });
}
