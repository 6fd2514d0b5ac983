// The command line: declares every command, loads the body of the one that was called, and turns errors into exit statuses.
import { Command, CommanderError } from "commander";

import type { Host } from "../host/host.ts";
import { errorTable, toTuttiError } from "../protocol/error.ts";
import { addAgents } from "./declare/agent-commands.ts";
import { examples, exitStatuses } from "./examples.ts";
import { addLookCommands } from "./declare/look-commands.ts";
import { bold, dim, fail, indent, quietWhenReaderLeaves, writeLine } from "./terminal/output.ts";
import { jsonOption } from "./options.ts";
import { addProtocols } from "./declare/protocol-commands.ts";
import { addService } from "./declare/service-commands.ts";
import { addWork } from "./declare/work-commands.ts";

/** `host` is how the commands get at a state folder; it is loaded only by those that need one. */
export async function main(args: readonly string[], host: () => Promise<Host>): Promise<void> {
  quietWhenReaderLeaves();
  const program = buildProgram(host);
  try {
    if (args.length === 0) await writeLine(overview(program));
    else if (args[0] === "--version" || args[0] === "-V") await program.parseAsync(["version"], { from: "user" });
    else await program.parseAsync(args, { from: "user" });
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exitCode = thrown.exitCode === 0 ? 0 : errorTable.usage.exit;
    else fail(toTuttiError(thrown), args.includes("--json"));
  }
}

function buildProgram(host: () => Promise<Host>): Command {
  const program = new Command("tutti")
    .description("Multi-agent orchestrator: durable trees of agents, and the tools of its protocols.")
    .helpOption("-h, --help", "show help, with examples")
    .addHelpText("after", `\n${exitStatuses}`);
  program
    .command("version")
    .description("print the version")
    .addOption(jsonOption())
    .action(async (options: { readonly json?: boolean }) => {
      const { printVersion } = await import("./print-version.ts");
      await printVersion(options);
    });
  addService(program, host);
  addWork(program, host);
  addAgents(program, host);
  addLookCommands(program, host);
  addProtocols(program);
  for (const command of withDescendants(program)) tidy(command, pathOf(command));
  return program;
}

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Errors in one line that says where help is, and an example below every command's help. */
function tidy(command: Command, path: string): void {
  command.exitOverride().configureOutput({
    outputError: (text, write) => {
      const message = text
        .replace(/^error: /, "")
        .trim()
        .replaceAll("\n", " ");
      const said = `${message}; see \`${path} --help\``;
      const usage = { error: { code: "usage", message: said, retry: errorTable.usage.retry } };
      if (message !== "") write(process.argv.includes("--json") ? `${JSON.stringify(usage)}\n` : `tutti: ${said}\n`);
    },
  });
  const own = examples.filter(
    (example) => `tutti ${example.command}`.startsWith(`${path} `) || `tutti ${example.command}` === path,
  );
  if (own.length > 0 && path !== "tutti") {
    command.addHelpText("after", `\nExamples:\n${own.map((example) => indent(example.run)).join("\n\n")}`);
  }
}

function overview(program: Command): string {
  const worked = examples.map((example) => `${bold(example.about)}\n${indent(example.run)}`);
  return `${program.helpInformation()}\n${dim("A worked example of each command, to paste inside the clone after `npm ci` (write `npx tutti` there):")}\n\n${worked.join("\n\n")}\n\n${exitStatuses}`;
}
