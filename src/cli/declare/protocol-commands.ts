// Declares the commands over the protocols: parsing replies, routing handoffs, tokens.
import { type Command, Option } from "commander";

import { jsonlOption, jsonOption, limitOption, list, positive } from "../options.ts";

export function addProtocols(program: Command): void {
  addParse(program);
  addRoute(program);
  addToken(program);
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
      const { parseToolCallsCommand } = await import("../commands/show-tool-calls.ts");
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
      const { parseDecisionCommand } = await import("../commands/show-decision.ts");
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
      const { routeCommand } = await import("../commands/route.ts");
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
      const { mintCommand } = await import("../commands/token.ts");
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
      const { verifyCommand } = await import("../commands/token.ts");
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
