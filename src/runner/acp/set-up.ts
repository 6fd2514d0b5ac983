// Runs the commands that make a workspace ready for work, such as the installation of packages: confined, before the prompt.

import type { Durable } from "../../ports.ts";
import { CommandResult, commandFailure } from "../command/command-result.ts";
import { readCommandConfig } from "../command/config.ts";
import { runCommand } from "../command/run-command.ts";
import { type LaunchOptions, makeHome, prepareProgram } from "./session-launch.ts";

export interface SetupCommand {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly [string, ...string[]];
  readonly network: boolean;
}

/** Each runs once in an attempt; after a crash the one that was cut off runs again. The first that fails ends the task. */
export async function setUpWorkspace(
  durable: Durable,
  launch: LaunchOptions,
  commands: readonly SetupCommand[],
): Promise<void> {
  const { cwd, roots } = launch.folder;
  for (const [index, { command, network }] of commands.entries()) {
    let config: ReturnType<typeof readCommandConfig> | undefined;
    const result = await durable.step(
      `setup${index}`,
      { repeatable: true, schema: CommandResult, input: command },
      async (step) => {
        await makeHome(launch.home, launch.profile);
        const [program, ...args] = command;
        const { argv, env } = await prepareProgram(launch, program, { cwd, network });
        config = readCommandConfig({ argv: [...argv, ...args], env, env_allow: [], workdir: cwd });
        return runCommand({ config, stdin: "", roots, offLimits: [] }, step);
      },
    );
    const failure = commandFailure(config ?? readCommandConfig({ argv: command }), result);
    if (failure !== undefined) throw failure;
  }
}
