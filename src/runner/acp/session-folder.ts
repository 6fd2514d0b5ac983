// Where a session works. Other ways to give a session a folder of its own, such as a git worktree, belong here.

import type { Durable } from "../../ports.ts";
import { workdirOf } from "../command/resolve-command.ts";

export interface SessionFolder {
  /** The real path of the folder that the session works in. */
  readonly cwd: string;
  /** The folders that it may change. */
  readonly roots: readonly string[];
}

/** The first folder of the task, as for a command. */
export async function openSessionFolder(
  durable: Pick<Durable, "rights">,
  { offLimits }: { readonly offLimits: readonly string[] },
): Promise<SessionFolder> {
  const { roots } = durable.rights;
  return { cwd: await workdirOf(undefined, { roots, offLimits }), roots };
}
