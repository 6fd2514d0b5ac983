// The command line: declares every command, loads the body of the one that was called, and turns errors into exit statuses.
import { Command, CommanderError, Option } from "commander";

import type { Opener } from "../client/client.ts";
import { errorTable, toTuttiError } from "../protocol/error.ts";
import { addAgents } from "./agents-commands.ts";
import { examples, exitStatuses } from "./examples.ts";
import type { InvokeOptions } from "./invoke.ts";
import type { PruneOptions } from "./prune.ts";
import type { LookOptions } from "./tasks.ts";
import { jsonlOption, jsonOption, limitOption, list, positive, stateOption } from "./options.ts";
import { bold, dim, fail, indent, quietWhenReaderLeaves, writeLine } from "./output.ts";

/** `opener` is how the commands get at a state folder; it is loaded only by those that need one. */
export async function main(args: readonly string[], opener: () => Promise<Opener>): Promise<void> {
  quietWhenReaderLeaves();
  const program = buildProgram(opener);
  try {
    if (args.length === 0) await writeLine(overview(program));
    else if (args[0] === "--version" || args[0] === "-V") await program.parseAsync(["version"], { from: "user" });
    else await program.parseAsync(args, { from: "user" });
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exitCode = thrown.exitCode === 0 ? 0 : errorTable.usage.exit;
    else fail(toTuttiError(thrown), args.includes("--json"));
  }
}

function buildProgram(opener: () => Promise<Opener>): Command {
  const program = new Command("tutti")
    .description("Multi-agent orchestrator: durable trees of agents, and the tools of its protocols.")
    .helpOption("-h, --help", "show help, with examples")
    .addHelpText("after", `\n${exitStatuses}`);
  program
    .command("version")
    .description("print the version")
    .action(async () => {
      const { printVersion } = await import("./version.ts");
      await printVersion();
    });
  addInvoke(program, opener);
  addAgents(program, opener);
  addLooking(program, opener);
  addPrune(program, opener);
  addParse(program);
  addRoute(program);
  addToken(program);
  for (const command of withDescendants(program)) tidy(command, pathOf(command));
  return program;
}

function addInvoke(program: Command, opener: () => Promise<Opener>): void {
  program
    .command("invoke")
    .argument("<file>", "the invocation, JSON; - for standard input")
    .description("run an invocation in this process; the same file again goes on where it was interrupted")
    .addOption(stateOption())
    .option("--new", "start another even if the same file has not finished")
    .option("--detach", "return with the invocation's own result; what still runs goes on at the next start")
    .option("--quiet", "show no progress")
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (file: string, options: InvokeOptions) => {
      const { invokeCommand } = await import("./invoke.ts");
      await invokeCommand(await opener(), file, options);
    });
}

function addLooking(program: Command, opener: () => Promise<Opener>): void {
  program
    .command("tasks")
    .description("list the trees, newest first, and the questions that are open")
    .addOption(stateOption())
    .option("-n, --limit <count>", "how many", positive, 20)
    .addOption(jsonOption())
    .action(async (options: LookOptions) => {
      const { tasksCommand } = await import("./tasks.ts");
      await tasksCommand(await opener(), options);
    });
  const commands = [
    { name: "show", about: "show a task: its tree, what happened, what it cost, its result", command: "showCommand" },
    { name: "logs", about: "print the events of a task and all below it", command: "logsCommand" },
    { name: "export", about: "print a task and all below it as JSON lines", command: "exportCommand" },
  ] as const;
  for (const { name, about, command } of commands) {
    const added = program.command(name).argument("<task>", "its id").description(about).addOption(stateOption());
    if (name === "logs") added.option("-f, --follow", "go on until the tree is over");
    if (name !== "export") added.addOption(jsonOption());
    added.action(async (task: string, options: LookOptions) => {
      const bodies = await import("./tasks.ts");
      await bodies[command](await opener(), task, options);
    });
  }
}

function addPrune(program: Command, opener: () => Promise<Opener>): void {
  program
    .command("prune")
    .description("remove finished trees")
    .option("--older <age>", "those that ended longer ago than this, such as 30d")
    .option("--max-size <size>", "then the oldest, until the state is at most this large, such as 500M")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: PruneOptions) => {
      const { pruneCommand } = await import("./prune.ts");
      await pruneCommand(await opener(), options);
    });
}

function addParse(program: Command): void {
  const parse = program.command("parse").description("parse what a model replied");
  parse
    .command("toolcalls")
    .argument("[file]", "the reply; standard input when absent or -")
    .description("find the fenced tool calls in a reply: calls, errors, violations, prose, reasoning")
    .addOption(
      new Option("--profile <name>", "how much drift to take").choices(["strict", "tolerant"]).default("tolerant"),
    )
    .option("--tools <names>", "registered tools, comma-separated; without it every name counts as registered", list)
    .option("--cut", "the provider said the reply was cut short")
    .addOption(jsonOption())
    .addOption(jsonlOption("{id, input, tools?, cut?}"))
    .addOption(limitOption())
    .action(async (file: string | undefined, options: ToolCallOptions) => {
      const { parseToolCallsCommand } = await import("./parse-toolcalls.ts");
      await parseToolCallsCommand(file, options);
    });
  parse
    .command("decision")
    .argument("[file]", "the reply; standard input when absent or -")
    .description("read a manager's reply as a decision: delegate, respond or do_work")
    .addOption(jsonOption())
    .addOption(jsonlOption("{id, input}"))
    .addOption(limitOption())
    .action(async (file: string | undefined, options: InputOptions) => {
      const { parseDecisionCommand } = await import("./parse-decision.ts");
      await parseDecisionCommand(file, options);
    });
}

function addRoute(program: Command): void {
  program
    .command("route")
    .argument("[handoff]", "the handoff envelope, TOON or JSON; standard input when absent or -")
    .description("say which model gets a handoff, and why")
    .option("--policy <file>", "the routing policy, TOON or JSON; the built-in one when absent")
    .addOption(jsonOption())
    .addOption(jsonlOption("{id, policy?, handoff}"))
    .addOption(limitOption())
    .action(async (file: string | undefined, options: RouteOptions) => {
      const { routeCommand } = await import("./route.ts");
      await routeCommand(file, options);
    });
}

function addToken(program: Command): void {
  const token = program.command("token").description("mint and verify capability tokens");
  token
    .command("mint")
    .description("mint a token bound to one attempt of one task; makes the key file when there is none")
    .requiredOption("--key <file>", "the signing key, readable by you alone")
    .requiredOption("--task <id>", "the task it is for")
    .requiredOption("--verbs <names>", "what the bearer may do, comma-separated", list)
    .option("--attempt <n>", "the attempt it is for", positive, 1)
    .option("--agent <id>", "who it is given to")
    .option("--ttl <seconds>", "how long it lives", positive, 1800)
    .addOption(jsonOption())
    .action(async (options: MintOptions) => {
      const { mintCommand } = await import("./token.ts");
      await mintCommand(options);
    });
  token
    .command("verify")
    .argument("[token]", "the token; standard input when absent or -")
    .description("check a token: signature, expiry, then verb, task and attempt as far as they are given")
    .requiredOption("--key <file>", "the signing key")
    .option("--verb <name>", "the verb it must grant")
    .option("--task <id>", "the task it must be for")
    .option("--attempt <n>", "the attempt it must be for", positive)
    .addOption(jsonOption())
    .action(async (text: string | undefined, options: VerifyOptions) => {
      const { verifyCommand } = await import("./token.ts");
      await verifyCommand(text, options);
    });
}

export interface InputOptions {
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly limit: number;
}
export interface ToolCallOptions extends InputOptions {
  readonly profile: "strict" | "tolerant";
  readonly tools?: readonly string[];
  readonly cut?: boolean;
}
export interface RouteOptions extends InputOptions {
  readonly policy?: string;
}
export interface MintOptions {
  readonly key: string;
  readonly task: string;
  readonly verbs: readonly string[];
  readonly attempt: number;
  readonly agent?: string;
  readonly ttl: number;
  readonly json?: boolean;
}
export interface VerifyOptions {
  readonly key: string;
  readonly verb?: string;
  readonly task?: string;
  readonly attempt?: number;
  readonly json?: boolean;
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
