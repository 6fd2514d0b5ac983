// Declares the commands over a project: its agents, its models, and the doctor.
import { type Command, Option } from "commander";

import type { Host } from "../../host/host.ts";
import type { AgentsOptions } from "../commands/agents.ts";
import type { DoctorOptions } from "../commands/doctor.ts";
import type { ModelsOptions } from "../commands/models.ts";
import { jsonOption, limitOption, stateOption } from "../options.ts";
import type { RunOptions } from "../commands/run-agent.ts";

const projectOption = (): Option =>
  new Option("--cwd <folder>", "a folder in the project; the current one when absent");

export function addAgents(program: Command, host: () => Promise<Host>): void {
  const agents = program.command("agents").description("the agents of the project and of the user");
  agents
    .command("list")
    .description("list the agents: .tutti/agents and .claude/agents of the project, then of your home")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (options: AgentsOptions) => {
      const { listAgents } = await import("../commands/agents.ts");
      await listAgents(await host(), options);
    });
  agents
    .command("show")
    .argument("<name>", "the agent")
    .description("show an agent: what it may use, and its instructions")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (name: string, options: AgentsOptions) => {
      const { showAgent } = await import("../commands/agents.ts");
      await showAgent(await host(), name, options);
    });
  agents
    .command("check")
    .description("check every definition; one line per problem, and status 3 when one is wrong")
    .option("--watch", "go on, and check again whenever a file changes")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (options: AgentsOptions) => {
      const { checkAgents } = await import("../commands/agents.ts");
      await checkAgents(await host(), options);
    });
  agents
    .command("new")
    .argument("<name>", "the agent")
    .description("write a commented definition to start from; never over one that is there")
    .option("--user", "for all your projects, in ~/.tutti/agents")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (name: string, options: AgentsOptions) => {
      const { newAgent } = await import("../commands/agents.ts");
      await newAgent(await host(), name, options);
    });
  addRun(agents, host);
  addModels(program, host);
}

function addRun(agents: Command, host: () => Promise<Host>): void {
  agents
    .command("run")
    .argument("<name>", "the agent")
    .argument("<prompt>", "what it is to do; - for standard input")
    .description("run an agent and show how it goes; the same command again goes on where it was interrupted")
    .option("--cwd <folder>", "the folder it works in; the current one when absent")
    .option("--model <name>", "provider/model or an alias, in place of the definition's")
    .option("--script <file>", "a rehearsal script, JSON, for when the model is rehearsal/script")
    .addOption(stateOption())
    .option("--new", "start another even if the same run has not finished")
    .option("--quiet", "show no transcript")
    .addOption(jsonOption())
    .addOption(limitOption())
    .action(async (name: string, prompt: string, options: RunOptions) => {
      const { runAgent } = await import("../commands/run-agent.ts");
      await runAgent(await host(), name, prompt, options);
    });
}

function addModels(program: Command, host: () => Promise<Host>): void {
  program
    .command("models")
    .description("list the models that can be used: key, reachable, price, format")
    .option("--offline", "ask no provider whether it is there")
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (options: ModelsOptions) => {
      const { modelsCommand } = await import("../commands/models.ts");
      await modelsCommand(await host(), options);
    });
  program
    .command("doctor")
    .description("look at all that is needed, and say what to do about what is missing")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import("../commands/doctor.ts");
      await doctorCommand(await host(), options);
    });
}
