// Reaches the workspaces of a state folder: through the process that works on it if there is one, otherwise in this one.
import type { Tutti } from "../client/client.ts";
import type { Host } from "../host/host.ts";
import { TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { findTask } from "./find-id.ts";
import { stateFolder } from "./state-folder.ts";

export interface WorkspacesOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export interface AttemptOptions extends WorkspacesOptions {
  /** The newest one, or the integration of the tasks below, when absent. */
  readonly attempt?: number;
}

/** Without a daemon this process takes the folder for a moment. It resumes no task. */
export async function withWorkspaces(
  host: Host,
  { state }: WorkspacesOptions,
  work: (tutti: Tutti) => Promise<void>,
): Promise<void> {
  const folder = stateFolder(state);
  const tutti = await reach(host, folder);
  try {
    await work(tutti);
  } finally {
    await tutti.close();
  }
}

/** How long a process that has just taken the folder may take until it answers or ends. */
const answersWithinMs = 10_000;
const askEveryMs = 50;

async function reach(host: Host, folder: string): Promise<Tutti> {
  for (const end = Date.now() + answersWithinMs; ;) {
    const tutti = await host.connect(folder);
    if (tutti !== undefined) return tutti;
    // Fails with a clear message when the folder does not exist or is not a state folder.
    await host.openReader(folder).close();
    try {
      return await host.openIdle(folder);
    } catch (thrown) {
      if (!(thrown instanceof TuttiError) || thrown.code !== "locked" || Date.now() > end) throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, askEveryMs));
  }
}

/** A task as `findTask` knows it; also one that is gone from the records and left its workspace. */
export async function findWorkspaceTask(tutti: Tutti, given: string): Promise<TaskId> {
  try {
    return await findTask(tutti, given);
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "not_found" || given === "last") throw thrown;
    const { workspaces } = await tutti.workspaces();
    const tasks = new Set(workspaces.map(({ task }) => task));
    const found = [...tasks].filter((task) => task.startsWith(given) || task.startsWith(`tsk_${given}`));
    const [only, another] = found;
    if (only === undefined || given === "") throw thrown;
    if (another === undefined) return only;
    throw new TuttiError(
      "invalid_input",
      `${given} fits several: ${found.slice(0, 8).join(", ")}; write more of the id`,
    );
  }
}
