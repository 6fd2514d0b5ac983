// `tutti cancel`: cancels a task and all below it, through the daemon, or on the state itself while there is none.
import type { Host } from "../../host/host.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { stateFolder } from "../state-folder.ts";
import { writeLine } from "../terminal/screen.ts";
import { counted } from "../terminal/units.ts";

export interface CancelOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly reason: string;
}

export async function cancelCommand(host: Host, task: TaskId, options: CancelOptions): Promise<void> {
  const canceled = await cancel(host, task, options);
  if (options.json === true) return writeLine(JSON.stringify({ canceled }));
  await writeLine(
    canceled.length === 0
      ? `${task} is over; there was nothing to cancel`
      : `canceled ${counted(canceled.length, "task")}`,
  );
}

/** Starts no daemon: that would resume the task, and it may be canceled because it ends every process that does. */
async function cancel(host: Host, task: TaskId, { state, reason }: CancelOptions): Promise<readonly TaskId[]> {
  const folder = stateFolder(state);
  const tutti = await host.connect(folder);
  if (tutti === undefined) {
    const reader = host.openReader(folder);
    try {
      // Throws when there is no such task.
      await reader.task(task);
    } finally {
      await reader.close();
    }
    return host.cancel(folder, task, reason);
  }
  try {
    return await tutti.cancel(task, reason);
  } finally {
    await tutti.close();
  }
}
