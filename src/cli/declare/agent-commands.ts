// Declares the commands for a project: its agents, its models, the trust in its config, and the doctor.
import { type Command, Option } from "commander";

import type { Host } from "../../host/host.ts";
import { effortLevels } from "../../protocol/invocation/effort-levels.ts";
import type { AgentsCheckOptions } from "../commands/agents-check.ts";
import type { AgentsNewOptions } from "../commands/agents-new.ts";
import type { AgentsRunOptions } from "../commands/agents-run.ts";
import type { DoctorOptions } from "../commands/doctor.ts";
import type { ModelsAddOptions } from "../commands/models-add.ts";
import type { ModelsOptions } from "../commands/models.ts";
import type { ModelsLoginOptions } from "../commands/models-login.ts";
import type { ModelsLogoutOptions } from "../commands/models-logout.ts";
import type { ModelsTestOptions } from "../commands/models-test-command.ts";
import type { RunnersOptions } from "../commands/runners-command.ts";
import type { InitCommandOptions } from "../commands/init.ts";
import type { TrustOptions } from "../commands/trust.ts";
import { databaseOption, schemaOption } from "../database-option.ts";
import {
  jsonOption,
  limitOption,
  noInputOption,
  projectOption,
  stateOption,
  timeoutSeconds,
  waitOption,
  yesOption,
} from "../options.ts";
import type { AgentsOptions } from "../project-agents.ts";

export function declareAgentCommands(program: Command, host: () => Promise<Host>): void {
  const agents = program.command("agents").description("list, show, check, write and run agents");
  agents
    .command("list")
    .description("list the agents in .tutti/agents and .claude/agents, of the project and of your home folder")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (options: AgentsOptions) => {
      const { agentsListCommand } = await import("../commands/agents-list.ts");
      await agentsListCommand(await host(), options);
    });
  agents
    .command("show")
    .argument("<name>", "the name of the agent")
    .description("show an agent: its tools, its model and its instructions")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (name: string, options: AgentsOptions) => {
      const { agentsShowCommand } = await import("../commands/agents-show.ts");
      await agentsShowCommand(await host(), name, options);
    });
  agents
    .command("check")
    .description("check all agent definitions; prints one line per problem, exit status 3 if there is an error")
    .option("--watch", "keep running, and check again whenever a file changes")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (options: AgentsCheckOptions) => {
      const { agentsCheckCommand } = await import("../commands/agents-check.ts");
      await agentsCheckCommand(await host(), options);
    });
  agents
    .command("new")
    .argument("<name>", "the name of the agent")
    .description("write an agent definition to start from, with comments; never overwrites a file")
    .option("--user", "for all your projects: write it to ~/.tutti/agents")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (name: string, options: AgentsNewOptions) => {
      const { agentsNewCommand } = await import("../commands/agents-new.ts");
      await agentsNewCommand(await host(), name, options);
    });
  declareRun(agents, host);
  declareModels(program, host);
}

function declareRun(agents: Command, host: () => Promise<Host>): void {
  agents
    .command("run")
    .argument("<name>", "the name of the agent")
    .argument("<prompt>", "what the agent should do; - to read it from standard input")
    .description("run an agent and show what it does; after an interruption, the same command goes on with the run")
    .option("--cwd <folder>", "the folder the agent works in (default: the current folder)")
    .option("--model <name>", "provider/model or an alias, instead of the model in the agent's definition")
    .option(
      "--runner <name>",
      "who runs it: local, command, operator, a coding agent as acp:PROFILE[/MODEL], or auto (the default), which follows the policy or the agent's definition",
    )
    .option("--policy <file>", "a routing policy that chooses the model or the coding agent by the words of the prompt")
    .addOption(
      new Option(
        "--workspace <mode>",
        "where it works: a worktree or copy of its own, or the folder itself (default: the folder; for a coding agent a worktree)",
      ).choices(["worktree", "copy", "shared"]),
    )
    .option("--with-changes", "its worktree begins with the uncommitted changes of your checkout")
    .option(
      "--after <task>",
      "the work builds on the branch of this task; several are merged in the order given",
      (task: string, before: readonly string[] | undefined) => [...(before ?? []), task],
    )
    .addOption(
      new Option(
        "--effort <level>",
        "how hard the model thinks, instead of the effort in the agent's definition",
      ).choices(effortLevels),
    )
    .option("--script <file>", "a rehearsal script in JSON, for the model rehearsal/script")
    .option("--thread <name>", "say it into the thread with this name, which is made if there is none")
    .option(
      "-c, --continue [thread]",
      "go on with a thread, by its name or id, or with what the agent was asked last in this project; write it after the prompt",
    )
    .addOption(stateOption())
    .option("--new", "start a new run even if the same run is unfinished")
    .option("--detach", "print the id of the task and return; the daemon does the work, and is started if need be")
    .option("--quiet", "do not show the transcript")
    .addOption(noInputOption())
    .addOption(waitOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (name: string, prompt: string, options: AgentsRunOptions) => {
      const { agentsRunCommand } = await import("../commands/agents-run.ts");
      await agentsRunCommand(await host(), { name, prompt }, options);
    });
}

function declareModels(program: Command, host: () => Promise<Host>): void {
  const models = program
    .command("models")
    // So that options after `login` are those of `login`.
    .enablePositionalOptions()
    .description("list the models you can use: price, API key, whether they can be reached, tool-call format")
    .option("--offline", "do not ask the providers whether they can be reached")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: ModelsOptions) => {
      const { modelsCommand } = await import("../commands/models.ts");
      await modelsCommand(await host(), options);
    });
  models
    .command("test")
    .argument("<name>", "provider/model or an alias")
    .description(
      "make a few small, real calls of a model and say what works and what it cost: a reply, a tool call, a long reply, thinking, an image",
    )
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (name: string, options: ModelsTestOptions) => {
      const { modelsTestCommand } = await import("../commands/models-test-command.ts");
      await modelsTestCommand(await host(), name, options);
    });
  models
    .command("add")
    .argument("<url>", "where the API of the server begins, such as http://127.0.0.1:8080/v1")
    .description(
      "set up a server that speaks OpenAI's chat completions, such as one on this machine: asks it for its models and writes your own config, ~/.tutti/tutti.config.json",
    )
    .option("--name <name>", "what it is called in names of models (default: by its address)")
    .option(
      "--model <id>",
      "which of its models is the default from now on (default: the first, if there is no other model)",
    )
    .option("--key-env <variable>", "the variable that holds its key, if it wants one")
    .option("--offline", "do not ask the server; needs --model")
    .option("--dry-run", "say what would be written, and write nothing")
    .option("--timeout <seconds>", "how long the server may take to list its models", timeoutSeconds, 30)
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (url: string, options: ModelsAddOptions) => {
      const { modelsAddCommand } = await import("../commands/models-add.ts");
      await modelsAddCommand(await host(), url, options);
    });
  models
    .command("login")
    .argument("<provider>", "the provider, such as anthropic, openai, google or openrouter")
    .description("keep the key of a provider in a private file of the state folder; it is read without being shown")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (provider: string, options: ModelsLoginOptions) => {
      const { modelsLoginCommand } = await import("../commands/models-login.ts");
      await modelsLoginCommand(await host(), provider, options);
    });
  models
    .command("logout")
    .argument("<provider>", "the provider")
    .description("remove the key of a provider that `tutti models login` kept")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (provider: string, options: ModelsLogoutOptions) => {
      const { modelsLogoutCommand } = await import("../commands/models-logout.ts");
      await modelsLogoutCommand(await host(), provider, options);
    });
  program
    .command("runners")
    .description(
      "list the kinds of runner that a task can have: the built-in ones and those that the project registers",
    )
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: RunnersOptions) => {
      const { runnersCommand } = await import("../commands/runners-command.ts");
      await runnersCommand(await host(), options);
    });
  program
    .command("init")
    .description("find models, coding agents and checks, and write a config and a policy for the project")
    .option("--force", "replace a config and a policy that `init` wrote earlier, edited or not")
    .option("--dry-run", "show what would be written, and write nothing")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: InitCommandOptions) => {
      const { initCommand } = await import("../commands/init.ts");
      await initCommand(await host(), options);
    });
  program
    .command("trust")
    .argument("[folder]", "a folder in the project; the current one when absent")
    .description(
      "agree to the config and the policy of a project as they are now; until then nothing of them is executed or used",
    )
    .option("--settings", "agree to the repository's own settings for coding agents instead: hooks, servers, plugins")
    .option("--servers", "agree to the MCP servers instead; each is started, to see its tools")
    .option("--show", "show what would be trusted, and change nothing")
    .option("--list", "list what is trusted")
    .option("--revoke", "take back what was agreed to for this project")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (folder: string | undefined, options: TrustOptions) => {
      const { trustCommand } = await import("../commands/trust.ts");
      await trustCommand(await host(), folder, options);
    });
  program
    .command("doctor")
    .description("check the installation, the project and the database, and say how to fix what is missing")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(databaseOption("check this database, too, and not the one of the node in the state folder"))
    .addOption(schemaOption())
    .addOption(jsonOption())
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import("../commands/doctor.ts");
      await doctorCommand(await host(), options);
    });
}
