// `tutti cancel`: cancels a task and all below it.
import type { Host } from "../../host/host.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { withDaemon } from "../connect.ts";
import { writeLine } from "../terminal/output.ts";
import { counted } from "../terminal/units.ts";

export interface CancelOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly reason: string;
}

export async function cancelCommand(host: Host, task: TaskId, options: CancelOptions): Promise<void> {
  const { state, json } = options;
  await withDaemon(host, { state, json, check: (reader) => reader.task(task) }, async (tutti) => {
    const canceled = await tutti.cancel(task, options.reason);
    if (json === true) return writeLine(JSON.stringify({ canceled }));
    await writeLine(
      canceled.length === 0
        ? `${task} is over; there was nothing to cancel`
        : `canceled ${counted(canceled.length, "task")}`,
    );
  });
}
