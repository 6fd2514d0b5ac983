// The doctor's check of coding agents: which of those that have a profile are installed, and in which version.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { promisify } from "node:util";

import { ownPath } from "../../files/own-environment.ts";
import type { Finding } from "../../host/project.ts";
import type { HeldAgent } from "../../protocol/task/agent-failure.ts";
import { agentProgram } from "../../runner/acp/session-launch.ts";
import type { Profile, Profiles } from "../../runner/acp/profile.ts";
import { plainEnvironment } from "../../runner/shared/confined-program.ts";

const run = promisify(execFile);
const versionMs = 10_000;

/** One finding for all of them: none is needed. */
export async function checkCodingAgents(profiles: Profiles): Promise<Finding> {
  const found = await Promise.all(
    Object.entries(profiles).map(async ([name, profile]) => {
      const program = await agentProgram(name, profile, "/").catch(() => undefined);
      return program === undefined ? undefined : `${name} ${await versionOf(profile)}`.trimEnd();
    }),
  );
  const installed = found.filter((each) => each !== undefined);
  const what = "coding agents";
  if (installed.length > 0) return { what, state: "ok", said: installed.join(", ") };
  const some = Object.values(profiles).flatMap(({ install }) => install ?? [])[0];
  const todo = some === undefined ? {} : { todo: `to run tasks with one, install it, for example with: ${some}` };
  return { what, state: "ok", said: "none is installed", ...todo };
}

export function heldFinding({ agent, failures }: HeldAgent): Finding {
  const last = failures.at(-1);
  const said = `${agent} failed ${failures.length} times in a row, at last in ${last?.task ?? "a task"}: ${last?.message ?? ""}`;
  return {
    what: "coding agents",
    state: "warn",
    said,
    todo: "look at what failed; the next task that launches it asks",
  };
}

async function versionOf({ version }: Profile): Promise<string> {
  if (version === undefined) return "";
  const [program, ...args] = version;
  try {
    // Without the person's keys, like a session. In a project, some programs would load code of the project.
    const env = { ...plainEnvironment(), PATH: ownPath(), HOME: homedir() };
    const { stdout } = await run(program, args, { timeout: versionMs, maxBuffer: 65_536, cwd: "/", env });
    return stdout.trim().split("\n")[0]?.slice(0, 60).toWellFormed() ?? "";
  } catch {
    return "(its version cannot be found out)";
  }
}
