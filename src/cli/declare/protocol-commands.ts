// Declares the commands for the protocols: parsing replies, routing handoffs, and tokens.
import { type Command, Option } from "commander";

import type { ParseToolcallsOptions } from "../commands/parse-toolcalls-command.ts";
import type { Host } from "../../host/host.ts";
import type { PolicyCheckOptions } from "../commands/policy-check.ts";
import type { PolicyExplainOptions } from "../commands/policy-explain.ts";
import type { PolicyInitOptions } from "../commands/policy-init.ts";
import type { PolicyReviewOptions } from "../commands/policy-review.ts";
import type { RouteOptions } from "../commands/route.ts";
import type { TokenMintOptions } from "../commands/token-mint.ts";
import type { TokenVerifyOptions } from "../commands/token-verify.ts";
import {
  commaList,
  type InputOptions,
  jsonlOption,
  jsonOption,
  limitOption,
  positiveInteger,
  projectOption,
  stateOption,
} from "../options.ts";

export function declareProtocolCommands(program: Command, host: () => Promise<Host>): void {
  declareParse(program);
  declareRoute(program);
  declarePolicy(program, host);
  declareToken(program);
}

function declareParse(program: Command): void {
  const parse = program.command("parse").description("parse the reply of a model");
  parse
    .command("toolcalls")
    .argument("[file]", "the reply (default: standard input)")
    .description("find the tool calls in a reply, and what is wrong with them")
    .addOption(
      new Option("--profile <name>", "strict: the exact format; tolerant: also common deviations")
        .choices(["strict", "tolerant"])
        .default("tolerant"),
    )
    .option("--tools <names>", "the tools that exist, comma-separated (default: every name is accepted)", commaList)
    .option("--cut", "the reply was cut off at the output limit")
    .addOption(jsonOption())
    .addOption(jsonlOption("{id, input, tools?, cut?}"))
    .addOption(limitOption())
    .action(async (file: string | undefined, options: ParseToolcallsOptions) => {
      const { parseToolcallsCommand } = await import("../commands/parse-toolcalls-command.ts");
      await parseToolcallsCommand(file, options);
    });
  parse
    .command("decision")
    .argument("[file]", "the reply (default: standard input)")
    .description("read the decision in a manager's reply: delegate, respond or do_work")
    .addOption(jsonOption())
    .addOption(jsonlOption("{id, input}"))
    .addOption(limitOption())
    .action(async (file: string | undefined, options: InputOptions) => {
      const { parseDecisionCommand } = await import("../commands/parse-decision-command.ts");
      await parseDecisionCommand(file, options);
    });
}

function declareRoute(program: Command): void {
  program
    .command("route")
    .argument("[handoff]", "the handoff, in TOON or JSON (default: standard input)")
    .description("say which model gets a handoff, and why")
    .option("--policy <file>", "the routing policy, in TOON or JSON (default: the built-in policy)")
    .addOption(jsonOption())
    .addOption(jsonlOption("{id, policy?, handoff}"))
    .addOption(limitOption())
    .action(async (file: string | undefined, options: RouteOptions) => {
      const { routeCommand } = await import("../commands/route.ts");
      await routeCommand(file, options);
    });
}

function declarePolicy(program: Command, host: () => Promise<Host>): void {
  const policy = program.command("policy").description("work with routing policies and reviews");
  policy
    .command("review")
    .argument("[review]", "the review envelope, in TOON or JSON (default: standard input)")
    .description("say what a review decides, and why")
    .option("--policy <file>", "the routing policy, in TOON or JSON (default: the built-in policy)")
    .addOption(jsonOption())
    .addOption(jsonlOption("{id, policy?, review}"))
    .addOption(limitOption())
    .action(async (file: string | undefined, options: PolicyReviewOptions) => {
      const { policyReviewCommand } = await import("../commands/policy-review.ts");
      await policyReviewCommand(file, options);
    });
  policy
    .command("check")
    .argument(
      "[file]",
      "the policy (default: .tutti/policy.toon of the project; without it, the policy made from your models)",
    )
    .description("say what is wrong with a policy, and whether every model that it names can run here")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (file: string | undefined, options: PolicyCheckOptions) => {
      const { policyCheckCommand } = await import("../commands/policy-check.ts");
      await policyCheckCommand(await host(), file, options);
    });
  policy
    .command("explain")
    .argument("[task...]", "the text of a task; without it, only the roles are shown")
    .description("say which model a task goes to and why, and who has which role")
    .option("--handoff <file>", "a handoff instead of a task, in TOON or JSON; - for standard input")
    .option("--kind <class>", "the class of the work, such as code_change or information_gathering")
    .option(
      "--policy <file>",
      "the routing policy (default: that of the project; without one, the policy made from your models)",
    )
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (words: readonly string[], options: PolicyExplainOptions) => {
      const { policyExplainCommand } = await import("../commands/policy-explain.ts");
      await policyExplainCommand(await host(), words, options);
    });
  policy
    .command("init")
    .description("print a policy to start from, made from the models that can be called here, or write it")
    .option("--model <name>", "give all roles to this model, as provider/model or acp:PROFILE[/MODEL]")
    .option("--write", "write it, with comments, to .tutti/policy.toon of the project, and trust it; never overwrites")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: PolicyInitOptions) => {
      const { policyInitCommand } = await import("../commands/policy-init.ts");
      await policyInitCommand(await host(), options);
    });
}

function declareToken(program: Command): void {
  const token = program.command("token").description("mint and verify capability tokens for workers");
  token
    .command("mint")
    .description("mint a token for one attempt of one task; makes the key file if there is none")
    .requiredOption("--key <file>", "the file with the signing key")
    .requiredOption("--task <id>", "the task the token is for")
    .requiredOption("--verbs <names>", "what the token allows, comma-separated", commaList)
    .option("--attempt <n>", "the attempt the token is for", positiveInteger, 1)
    .option("--agent <id>", "the agent the token is given to")
    .option("--ttl <seconds>", "how long the token is valid", positiveInteger, 1800)
    .addOption(jsonOption())
    .action(async (options: TokenMintOptions) => {
      const { tokenMintCommand } = await import("../commands/token-mint.ts");
      await tokenMintCommand(options);
    });
  token
    .command("verify")
    .argument("[token]", "the token (default: standard input)")
    .description("check a token: its signature, its expiry, and the verb, task and attempt you name")
    .requiredOption("--key <file>", "the file with the signing key")
    .option("--verb <name>", "the verb it must allow")
    .option("--task <id>", "the task it must be for")
    .option("--attempt <n>", "the attempt it must be for", positiveInteger)
    .addOption(jsonOption())
    .action(async (text: string | undefined, options: TokenVerifyOptions) => {
      const { tokenVerifyCommand } = await import("../commands/token-verify.ts");
      await tokenVerifyCommand(text, options);
    });
}
