// Runs the commands that make a workspace ready for work, such as the installation of packages: confined, before the prompt.

import { join } from "node:path";

import { z } from "zod";

import type { Durable } from "../../ports.ts";
import { CommandResult, commandFailure } from "../command/command-result.ts";
import { readCommandConfig } from "../command/config.ts";
import { runCommand } from "../command/run-command.ts";
import { keepSetup, restoreSetup, type SetupCache, setupKey, type Workspace } from "../../workspace/index.ts";
import { makeHome, prepareProgram, type ProgramPlace, removeHome } from "./confined-program.ts";
import { stepToEnd } from "./step-to-end.ts";
import type { WantedWorkspace } from "./wanted-workspace.ts";

export interface SetupCommand {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly [string, ...string[]];
  readonly network: boolean;
  /** Files that decide about the result, and what the command makes: with both, the result is kept for other workspaces. */
  readonly lock?: readonly string[] | undefined;
  readonly makes?: readonly string[] | undefined;
}

export interface Setup {
  readonly commands: readonly SetupCommand[];
  readonly workspace: Workspace;
  /** Nothing is kept when absent. */
  readonly cache: SetupCache | undefined;
  /** Whether the workspace begins with files of the person. Code of a session must not decide what others get. */
  readonly isPersons: boolean;
}

/** Null when the result of the command is not kept. */
const Restored = z.object({ key: z.string(), restored: z.boolean() }).nullable();

/** Each runs once in an attempt; after a crash the one that was cut off runs again. The first that fails ends the task. */
export async function setUpWorkspace(durable: Durable, launch: ProgramPlace, setup: Setup): Promise<void> {
  const { workspace, cache, isPersons } = setup;
  for (const [index, command] of setup.commands.entries()) {
    const { lock = [], makes = [] } = command;
    const known =
      cache === undefined || lock.length === 0 || makes.length === 0
        ? null
        : await durable.step(`setup${index}.restored`, { repeatable: true, schema: Restored }, async () => {
            const key = await setupKey(workspace, { command: command.command, lock, makes });
            return key === undefined ? null : { key, restored: await restoreSetup(cache, workspace, key) };
          });
    if (known?.restored === true) continue;
    await runSetup(durable, launch, { key: `setup${index}`, ...command });
    if (cache === undefined || known === null || !isPersons) continue;
    await durable.step(`setup${index}.kept`, { repeatable: true, schema: z.boolean() }, () =>
      keepSetup(cache, workspace, { key: known.key, makes }),
    );
  }
}

async function runSetup(
  durable: Durable,
  launch: ProgramPlace,
  { key, command, network }: SetupCommand & { readonly key: string },
): Promise<void> {
  const { cwd, roots } = launch.folder;
  // Code of the repository runs here, perhaps with the network: the login that the session gets must not be in its home.
  const place = { ...launch, home: join(launch.home, "setup") };
  let config: ReturnType<typeof readCommandConfig> | undefined;
  const result = await stepToEnd(
    durable,
    { key, repeatable: true, schema: CommandResult, input: command },
    async (step) => {
      await makeHome(place.home);
      try {
        const { launcher, argv, env } = await prepareProgram(place, command, { cwd, network });
        config = readCommandConfig({ argv, env, env_allow: [], workdir: cwd });
        return await runCommand({ config, launcher, stdin: "", roots, offLimits: [] }, step);
      } finally {
        await removeHome(place.home);
      }
    },
  );
  const failure = commandFailure(config ?? readCommandConfig({ argv: command }), result);
  if (failure !== undefined) throw failure;
}

/** Whether the files that a workspace begins with are those of the person's checkout, and not the work of a session. */
export function beginsAsPersons({ base, after, branch }: WantedWorkspace): boolean {
  return base === undefined && after === undefined && branch === undefined;
}
