// `tutti cancel`: cancels a task and all below it.
import type { Host } from "../../host/host.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { writeLine } from "../terminal/output.ts";
import { withDaemon } from "../connect.ts";

export interface CancelOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly reason: string;
}

export async function cancelCommand(host: Host, task: TaskId, options: CancelOptions): Promise<void> {
  const place = { state: options.state, json: options.json };
  await withDaemon(host, { ...place, check: (reader) => reader.task(task) }, async (tutti) => {
    const canceled = await tutti.cancel(task, options.reason);
    if (options.json === true) return writeLine(JSON.stringify({ canceled }));
    const many = canceled.length === 1 ? "1 task" : `${canceled.length} tasks`;
    await writeLine(canceled.length === 0 ? `${task} is over; there was nothing to cancel` : `canceled ${many}`);
  });
}
