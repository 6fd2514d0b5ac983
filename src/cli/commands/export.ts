// `tutti export`: prints a task and all below it as JSON lines.
import type { Host } from "../../host/host.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { allEvents } from "../all-events.ts";
import { withReader } from "../connect.ts";
import { writeLine } from "../terminal/screen.ts";

export interface ExportOptions {
  readonly state?: string;
}

export async function exportCommand(host: Host, task: TaskId, options: ExportOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    for (const view of await reader.tree(task)) await writeLine(JSON.stringify({ record: "task", ...view }));
    for await (const event of allEvents(reader, task)) await writeLine(JSON.stringify({ record: "event", ...event }));
  });
}
