// `tutti export`: a task and all below it as JSON lines.
import type { Opener } from "../client/client.ts";
import type { TaskId } from "../protocol/ids.ts";
import { allEvents } from "./all-events.ts";
import { writeLine } from "./output.ts";
import { lookAt } from "./reach.ts";

export async function exportCommand(opener: Opener, task: TaskId, options: { readonly state?: string }): Promise<void> {
  await lookAt(opener, options, async (looking) => {
    for (const view of await looking.tree(task)) await writeLine(JSON.stringify({ record: "task", ...view }));
    for await (const event of allEvents(looking, task)) await writeLine(JSON.stringify({ record: "event", ...event }));
  });
}
