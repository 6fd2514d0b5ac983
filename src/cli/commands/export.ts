// `tutti export`: prints a task and all below it as JSON lines.
import type { Host } from "../../host/host.ts";
import { allEvents } from "../all-events.ts";
import { withReader } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { writeJson } from "../terminal/screen.ts";

export interface ExportOptions {
  readonly state?: string;
}

export async function exportCommand(host: Host, given: string, options: ExportOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = await findTask(reader, given);
    for (const view of await reader.tree(task)) await writeJson({ record: "task", ...view });
    for await (const event of allEvents(reader, task)) await writeJson({ record: "event", ...event });
  });
}
