// A tree as JSON lines: every task, then every event, read in pages as they are taken.

import type { TaskId } from "../../protocol/ids.ts";
import type { TaskView } from "../../protocol/task/task-view.ts";
import type { EventFeed } from "../state/event-feed.ts";
import { takeEvents } from "./take-events.ts";

const pageSize = 200;
/** What is held while the reader takes its time. */
const maxLength = 256 * 1024;

/** Events up to now: what is recorded while the export is read is not in it. */
export function* exportLines(tree: readonly TaskView[], feed: Pick<EventFeed, "read" | "position">, task: TaskId) {
  const until = feed.position;
  for (const each of tree) yield JSON.stringify({ record: "task", ...each });
  for (let after = 0; after < until;) {
    const { events, more } = takeEvents(feed, { after, limit: pageSize, maxLength, task });
    for (const { event, json } of events) {
      if (event.seq > until) return;
      after = event.seq;
      yield `{"record":"event",${json.slice(1)}`;
    }
    if (!more) return;
  }
}
