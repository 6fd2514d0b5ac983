// Exports a task tree as JSON lines: every task, then every event, read page by page as the lines are consumed.

import type { TaskTree } from "../../protocol/api/task-shapes.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { EventFeed } from "../state/event-feed.ts";
import type { LocalTutti } from "../state/local-client.ts";

const pageSize = 200;
/** Limits how much of the export is in memory while the caller reads it. */
const maxLength = 256 * 1024;

/** Ends with the event `until`: what is recorded while the caller reads is not part of the export. */
export async function* exportLines(
  client: Pick<LocalTutti, "treePage">,
  feed: Pick<EventFeed, "read">,
  { task, until }: { readonly task: TaskId; readonly until: number },
) {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: TaskTree = await client.treePage(task, cursor === undefined ? {} : { cursor });
    for (const each of page.tasks) yield JSON.stringify({ record: "task", ...each });
    cursor = page.next;
  }
  for (let after = 0; after < until;) {
    const { events, more } = await feed.read({ after, limit: pageSize, maxLength, task });
    for (const { event, json } of events) {
      if (event.seq > until) return;
      after = event.seq;
      yield `{"record":"event",${json.slice(1)}`;
    }
    if (!more) return;
  }
}
