// Which coding agents this machine has: those whose program is installed.

import { isAbsolute } from "node:path";

import { missingRunner } from "../../protocol/missing-runner.ts";
import type { Profile, Profiles } from "./profile.ts";
import { agentProgram } from "./session-launch.ts";

/** Their names, in the order of the profiles. */
export async function installedAgents(profiles: Profiles): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(profiles).map(async ([name, profile]) => ((await isInstalled(name, profile)) ? [name] : [])),
  );
  return found.flat();
}

export async function isInstalled(name: string, profile: Profile): Promise<boolean> {
  const [program] = profile.command;
  // It is in the folder of the session, if it is anywhere.
  if (program.includes("/") && !isAbsolute(program)) return true;
  return agentProgram(name, profile, "/").then(
    () => true,
    () => false,
  );
}

/** Where there are other machines, the task waits for one that has the agent. */
export async function waitForAgent(name: string, profile: Profile): Promise<void> {
  if (await isInstalled(name, profile)) return;
  throw missingRunner(`acp:${name}`, `the agent ${name} is not installed on this machine`);
}

export async function waitForAnyAgent(profiles: Profiles): Promise<void> {
  if ((await installedAgents(profiles)).length > 0) return;
  throw missingRunner("acp", "no coding agent is installed on this machine");
}
