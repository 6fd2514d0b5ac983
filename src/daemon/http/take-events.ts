// Reads stored events for somebody outside: as many as make a reply of bounded size, whatever the size of one of them.

import type { TaskId } from "../../protocol/ids.ts";
import type { EventFeed, FeedEvent } from "../state/event-feed.ts";

export interface TakeOptions {
  readonly after: number;
  readonly limit: number;
  /** Reached by the last event that is taken; the first one is, however long it is. */
  readonly maxLength: number;
  readonly task?: TaskId | undefined;
}

export interface TakenEvents {
  readonly events: FeedEvent[];
  /** False: there are no others; whoever subscribes in the same tick misses none. */
  readonly more: boolean;
}

/** An event may hold a result of megabytes, so only a few are read before it is known how long they are. */
const firstStep = 8;
const widestStep = 64;

export function takeEvents(feed: Pick<EventFeed, "read">, options: TakeOptions): TakenEvents {
  const { after, limit, maxLength, task } = options;
  const events: FeedEvent[] = [];
  let [last, length, step] = [after, 0, firstStep];
  for (;;) {
    const room = Math.min(step, limit - events.length);
    // One more than is taken says whether there is more.
    const found = feed.read({ after: last, limit: room + 1, ...(task === undefined ? {} : { task }) });
    for (const [index, fed] of found.slice(0, room).entries()) {
      events.push(fed);
      last = fed.event.seq;
      length += fed.json.length;
      if (length >= maxLength && index < found.length - 1) return { events, more: true };
    }
    const more = found.length > room;
    if (!more || events.length >= limit) return { events, more };
    const fitting = Math.ceil(((maxLength - length) * events.length) / length);
    step = Math.min(widestStep, 2 * step, fitting);
  }
}
