// Prepares the process of a session: finds the program, makes the session's own home folder, and confines it where the machine can.

import { TuttiError } from "../../protocol/error.ts";
import { programOf } from "../command/resolve-command.ts";
import {
  confined,
  keptEnvironment,
  keptPlaces,
  makeHome,
  ownFolders,
  passedOn,
  plainEnvironment,
  type PreparedProgram,
  type ProgramPlace,
} from "../shared/confined-program.ts";
import { commandFor, type Profile } from "./profile.ts";

export interface LaunchOptions extends ProgramPlace {
  readonly name: string;
  readonly profile: Profile;
  readonly model: string | undefined;
}

/**
 * The absolute path of the agent's program. It is given the person's login, so it is never one that a project put into the PATH.
 * Throws `not_found` with the way to install it.
 */
export async function agentProgram(
  name: string,
  { command: [program], install }: Profile,
  cwd: string,
): Promise<string> {
  try {
    return await programOf(program, cwd, keptPlaces());
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "not_found") throw thrown;
    const theirs = await programOf(program, cwd, plainEnvironment()).catch(() => undefined);
    if (theirs !== undefined) {
      const why = `${theirs} is in a folder of a project, so the agent ${name} is not started from it with your login`;
      throw new TuttiError("not_found", `${why}; name its full path as the command in acp.profiles if you trust it`, {
        cause: thrown,
      });
    }
    const how = install === undefined ? "" : `; install it with: ${install}`;
    throw new TuttiError("not_found", `the agent ${name} is not installed: there is no program ${program}${how}`, {
      cause: thrown,
    });
  }
}

export async function prepareLaunch(options: LaunchOptions): Promise<PreparedProgram> {
  const { name, profile, model, folder, home } = options;
  const program = await agentProgram(name, profile, folder.cwd);
  await makeHome(home, profile);
  const chosen = commandFor(name, profile, model);
  const kept = keptEnvironment();
  const env = { ...kept, ...passedOn(profile.pass_env), ...chosen.env, ...ownFolders(home) };
  const { launcher, env: confinedEnv } = await confined(options, program, { network: true, path: kept["PATH"] });
  return { launcher, argv: [program, ...chosen.argv.slice(1)], env: { ...env, ...confinedEnv } };
}
