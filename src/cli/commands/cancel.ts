// `tutti cancel`: cancels a task and all below it, through the daemon, or on the state itself while there is none.
import type { Host } from "../../host/host.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { tellBeforeEnd } from "../endings.ts";
import { findTask } from "../find-id.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { counted } from "../terminal/units.ts";

export interface CancelOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly reason: string;
}

export async function cancelCommand(host: Host, given: string, options: CancelOptions): Promise<void> {
  const { task, canceled } = await cancel(host, given, options);
  if (options.json === true) return writeJson({ canceled });
  await writeLine(
    canceled.length === 0
      ? `${task} is over; there was nothing to cancel`
      : `canceled ${counted(canceled.length, "task")}: ${task}${canceled.length > 1 ? " and all below it" : ""}`,
  );
}

const canceling = { verb: "canceling", what: "for good; workspaces stay" } as const;

interface Canceled {
  readonly task: TaskId;
  readonly canceled: readonly TaskId[];
}

/** Starts no daemon: that would resume the task, and it may be canceled because it ends every process that does. */
async function cancel(host: Host, given: string, { state, reason, json }: CancelOptions): Promise<Canceled> {
  const folder = stateFolder(state);
  const tutti = await host.connect(folder);
  if (tutti === undefined) {
    const reader = host.openReader(folder);
    let task: TaskId;
    try {
      task = await findTask(reader, given);
      await tellBeforeEnd(reader, task, { ...canceling, json });
    } finally {
      await reader.close();
    }
    return { task, canceled: await host.cancel(folder, task, reason) };
  }
  try {
    const task = await findTask(tutti, given);
    await tellBeforeEnd(tutti, task, { ...canceling, json });
    return { task, canceled: await tutti.cancel(task, reason) };
  } finally {
    await tutti.close();
  }
}
