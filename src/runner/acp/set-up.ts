// Runs the commands that make a workspace ready for work, such as the installation of packages: confined, before the prompt.

import { join } from "node:path";

import type { Durable } from "../../ports.ts";
import { CommandResult, commandFailure } from "../command/command-result.ts";
import { readCommandConfig } from "../command/config.ts";
import { runCommand } from "../command/run-command.ts";
import { type LaunchOptions, makeHome, prepareProgram, removeHome } from "./session-launch.ts";

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
  // Code of the repository runs here, perhaps with the network: the login that the session gets must not be in its home.
  const place = { ...launch, home: join(launch.home, "setup") };
  for (const [index, { command, network }] of commands.entries()) {
    let config: ReturnType<typeof readCommandConfig> | undefined;
    const result = await durable.step(
      `setup${index}`,
      { repeatable: true, schema: CommandResult, input: command },
      async (step) => {
        await makeHome(place.home, { credentials: [], files: {} });
        try {
          const [program, ...args] = command;
          const { argv, env } = await prepareProgram(place, program, { cwd, network });
          config = readCommandConfig({ argv: [...argv, ...args], env, env_allow: [], workdir: cwd });
          return await runCommand({ config, stdin: "", roots, offLimits: [] }, step);
        } finally {
          await removeHome(place.home);
        }
      },
    );
    const failure = commandFailure(config ?? readCommandConfig({ argv: command }), result);
    if (failure !== undefined) throw failure;
  }
}
