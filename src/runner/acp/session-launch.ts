// Prepares the process of a session: finds the program, makes the session's own home folder, and confines it where the machine can.

import { TuttiError } from "../../protocol/error.ts";
import { programOf } from "../command/resolve-command.ts";
import {
  confined,
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

/** The absolute path of the agent's program. Throws `not_found` with the way to install it. */
export async function agentProgram(
  name: string,
  { command: [program], install }: Profile,
  cwd: string,
): Promise<string> {
  try {
    return await programOf(program, cwd, plainEnvironment());
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "not_found") throw thrown;
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
  const env = { ...plainEnvironment(), ...passedOn(profile.pass_env), ...chosen.env, ...ownFolders(home) };
  const { launcher, env: confinedEnv } = await confined(options, program, { network: true });
  return { launcher, argv: [program, ...chosen.argv.slice(1)], env: { ...env, ...confinedEnv } };
}
