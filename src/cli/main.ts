// The command line: declares every command, runs the one that was called, and turns errors into exit statuses.
import { Command, CommanderError } from "commander";

import type { Host } from "../host/host.ts";
import { errorTable, toTuttiError } from "../protocol/error.ts";
import { declareAboutCommands } from "./declare/about-commands.ts";
import { declareAgentCommands } from "./declare/agent-commands.ts";
import { declareGoalCommands } from "./declare/goal-commands.ts";
import { declareContextCommands } from "./declare/context-commands.ts";
import { declareConversationCommands } from "./declare/conversation-commands.ts";
import { declareProtocolCommands } from "./declare/protocol-commands.ts";
import { declareRecordCommands } from "./declare/record-commands.ts";
import { declareMcpCommands } from "./declare/mcp-commands.ts";
import { declareServiceCommands } from "./declare/service-commands.ts";
import { declareSessionCommands } from "./declare/session-commands.ts";
import { declareTaskCommands } from "./declare/task-commands.ts";
import { declareWorkspaceCommands } from "./declare/workspace-commands.ts";
import { declareTarget, targetOf } from "./remote/declare-target.ts";
import type { Target } from "./remote/find-target.ts";
import { endingsTable } from "./endings.ts";
import { examples, exitStatuses } from "./examples.ts";
import { firstPage } from "./first-page.ts";
import { asTyped } from "./terminal/typed-command.ts";
import { fail, indent } from "./terminal/output.ts";
import {
  exitWhenOutputCloses,
  standardError,
  standardOutput,
  writeBlock,
  writeNodeWarnings,
  writeUnbroken,
} from "./terminal/screen.ts";

/** `host` gives the commands access to state folders and projects; only commands that need it load it. */
export async function main(args: readonly string[], host: () => Promise<Host>): Promise<void> {
  exitWhenOutputCloses();
  writeNodeWarnings();
  reportUnhandledErrors(args);
  const program = buildProgram(host);
  try {
    if (args.length === 0) await writeUnbroken(firstPage(standardOutput.columns));
    else if (["--version", "-V", "-v"].includes(args[0] ?? "")) await program.parseAsync(["version"], { from: "user" });
    else await program.parseAsync(unknownCommandOf(program, args) ?? args, { from: "user" });
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exitCode = thrown.exitCode === 0 ? 0 : errorTable.usage.exit;
    else fail(toTuttiError(thrown), args.includes("--json"));
  }
}

/**
 * The words up to a command that does not exist when its help is asked for: without `--help` commander names it, suggests
 * another one and fails; with it, it shows the help of the command above.
 */
function unknownCommandOf(program: Command, args: readonly string[]): readonly string[] | undefined {
  const isHelp = args[0] === "help";
  if (!isHelp && !args.some((arg) => arg === "--help" || arg === "-h")) return undefined;
  const words = isHelp ? args.slice(1) : args;
  let command = program;
  for (const [at, word] of words.entries()) {
    if (word.startsWith("-") || command.registeredArguments.length > 0 || command.commands.length === 0)
      return undefined;
    const next =
      word === "help" ? undefined : command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    if (next === undefined) return word === "help" ? undefined : words.slice(0, at + 1);
    command = next;
  }
  return undefined;
}

/** Node would print such an error as it is. A daemon in this process has a listener of its own, and then this one is silent. */
function reportUnhandledErrors(args: readonly string[]): void {
  process.on("uncaughtException", (thrown) => {
    if (process.listenerCount("uncaughtException") > 1) return;
    fail(toTuttiError(thrown), args.includes("--json"));
    process.exit();
  });
}

function buildProgram(localHost: () => Promise<Host>): Command {
  let target: Target | undefined;
  const host = async (): Promise<Host> =>
    target === undefined
      ? localHost()
      : (await import("./remote/remote-host.ts")).remoteHost(await localHost(), target);
  const program = new Command("tutti")
    .description(
      "Takes a goal in your words and has AI agents reach it, with evidence. A crash or a restart loses nothing.",
    )
    .helpOption("-h, --help", "show help, with examples")
    // An option belongs to the command it follows: `models login` has options that `models` has, too.
    .enablePositionalOptions()
    .addHelpText("after", `\n${exitStatuses}`);
  program.commandsGroup("Goals, agents and models:");
  declareGoalCommands(program, host);
  declareAgentCommands(program, host);
  program.commandsGroup("Tasks:");
  declareTaskCommands(program, host);
  declareSessionCommands(program, host);
  declareConversationCommands(program, host);
  declareRecordCommands(program, host);
  program.commandsGroup("Workspaces:");
  declareWorkspaceCommands(program, host);
  program.commandsGroup("The daemon:");
  declareServiceCommands(program, host);
  declareMcpCommands(program, host);
  declareContextCommands(program);
  program.commandsGroup("Protocols:");
  declareProtocolCommands(program, host);
  program.commandsGroup("About Tutti:");
  declareAboutCommands(program, host);
  for (const command of withDescendants(program)) {
    const path = pathOf(command);
    if (command !== program) declareTarget(command, path.slice("tutti ".length));
    addErrorsAndExamples(command, path);
  }
  program.hook("preAction", async (_, command) => {
    target = await targetOf(command, pathOf(command).slice("tutti ".length));
  });
  return program;
}

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

const endings: ReadonlySet<string> = new Set(
  ["stop", "cancel", "kill", "pause", "down"].map((name) => `tutti ${name}`),
);

/** Below so many columns, the description of a command or an option stands below its name. */
const narrowHelp = 70;

/** Usage errors are one line that names the help; the help of every command ends with its examples. */
function addErrorsAndExamples(command: Command, path: string): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => writeBlock(standardOutput, text),
    writeErr: (text) => writeBlock(standardError, text),
    outputError: (text, write) => {
      const message = text
        .replace(/^error: /, "")
        .trim()
        .replaceAll("\n", " ");
      const withHint = `${message}; see \`${path} --help\``;
      const usage = { error: { code: "usage", message: withHint, retry: errorTable.usage.retry } };
      if (message === "") return;
      if (process.argv.includes("--json")) standardError.write(`${JSON.stringify(usage)}\n`);
      else write(asTyped(`tutti: ${withHint}\n`));
    },
  });
  if (standardOutput.isTerminal && standardOutput.columns < narrowHelp) {
    command.configureHelp({
      formatItem: (term, _, description) => `  ${term}\n${description === "" ? "" : `    ${description}`}`.trimEnd(),
    });
  }
  const own = examples.filter(
    (example) => `tutti ${example.command}`.startsWith(`${path} `) || `tutti ${example.command}` === path,
  );
  if (endings.has(path)) command.addHelpText("after", `\n${endingsTable}`);
  if (own.length > 0 && path !== "tutti") {
    command.addHelpText("after", `\nExamples:\n${own.map((example) => indent(example.run)).join("\n\n")}`);
  }
}
