// `tutti transcript`: the conversation of a task and all tasks below it, and nothing else.
import type { Host } from "../../host/host.ts";
import { allEvents } from "../all-events.ts";
import { withReader } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { writeJson, writeUnbroken } from "../terminal/screen.ts";
import { conversationOf, outputView } from "../terminal/task-account.ts";

export interface TranscriptCommandOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly full?: boolean;
}

export async function transcriptCommand(host: Host, given: string, options: TranscriptCommandOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = await findTask(reader, given);
    const events = await Array.fromAsync(allEvents(reader, task));
    if (options.json === true) {
      for (const event of events) if (event.type === "message.added") await writeJson(event);
      return;
    }
    await writeUnbroken(conversationOf(task, events, { ...outputView(options), whole: "all" }).text);
  });
}
