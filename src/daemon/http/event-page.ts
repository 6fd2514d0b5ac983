// Reads a page of stored events that is limited in size as well as in number, because one event may have megabytes.

import type { TaskId } from "../../protocol/ids.ts";
import type { EventFeed, FeedEvent } from "../state/event-feed.ts";

interface EventPageOptions {
  readonly after: number;
  readonly limit: number;
  /** In characters of JSON. The event that reaches it is the last of the page, so a page is never empty because of it. */
  readonly maxLength: number;
  /** Only events of this task and its descendants. */
  readonly task?: TaskId | undefined;
}

interface StoredEvents {
  readonly events: FeedEvent[];
  /** False when nothing more was stored when it was read. */
  readonly more: boolean;
}

const firstBatch = 8;
const maxBatch = 64;

/** Reads in batches, whose size is chosen by the length of the events read so far. */
export async function readEventPage(feed: Pick<EventFeed, "read">, options: EventPageOptions): Promise<StoredEvents> {
  const { after, limit, maxLength, task } = options;
  const events: FeedEvent[] = [];
  let [last, length, batch] = [after, 0, firstBatch];
  for (;;) {
    const wanted = Math.min(batch, limit - events.length);
    // One more than is wanted tells whether there are more.
    const found = await feed.read({ after: last, limit: wanted + 1, ...(task === undefined ? {} : { task }) });
    for (const [index, entry] of found.slice(0, wanted).entries()) {
      events.push(entry);
      last = entry.event.seq;
      length += entry.json.length;
      if (length >= maxLength && index < found.length - 1) return { events, more: true };
    }
    const more = found.length > wanted;
    if (!more || events.length >= limit) return { events, more };
    const fitting = Math.ceil(((maxLength - length) * events.length) / length);
    batch = Math.min(maxBatch, 2 * batch, fitting);
  }
}
