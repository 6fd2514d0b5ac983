// `tutti threads fork`: copies a thread, whole or up to one of its messages.
import type { Host } from "../../host/host.ts";
import { findThread } from "../find-thread.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { withWorkspaces } from "../with-workspaces.ts";

export interface ThreadsForkOptions {
  readonly state?: string;
  readonly json?: boolean;
  /** The id of the last message that the fork has. */
  readonly at?: string;
  readonly name?: string;
}

export async function threadsForkCommand(host: Host, given: string, options: ThreadsForkOptions): Promise<void> {
  const { at, name, json } = options;
  await withWorkspaces(host, options, async (tutti) => {
    const { id } = await findThread(tutti, given);
    const fork = await tutti.forkThread(id, {
      ...(at === undefined ? {} : { message: at }),
      ...(name === undefined ? {} : { name }),
    });
    if (json === true) return writeJson(fork);
    await writeLine(
      `${fork.id}${fork.name === null ? "" : ` ${fork.name}`}: a copy of ${id} with ${fork.tasks} ${fork.tasks === 1 ? "task" : "tasks"}`,
    );
  });
}
