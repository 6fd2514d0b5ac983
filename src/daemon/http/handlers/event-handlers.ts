// Events: a page of JSON, or a stream for whoever accepts one.

import { maxPageLength } from "../bounded-page.ts";
import type { Caller } from "../caller.ts";
import type { HttpContext } from "../context.ts";
import type { StreamRequest } from "../event-stream.ts";
import type { Handlers } from "../handler.ts";
import { type Refused, refuse } from "../refused.ts";
import { takeEvents } from "../take-events.ts";

interface Asked {
  readonly caller: Caller;
  readonly wantsStream: boolean;
  readonly task: string | undefined;
  readonly query: { readonly after: number; readonly limit: number; readonly live?: boolean | undefined };
  readonly lastEventId: string | undefined;
}

export function eventHandlers({ state }: HttpContext): Pick<Handlers, "events" | "taskEvents"> {
  const { client, feed } = state;

  const streamOf = ({ caller, task, query, lastEventId }: Asked): { refused: Refused } | { stream: StreamRequest } => {
    if (lastEventId !== undefined && !/^\d{1,15}$/.test(lastEventId)) {
      return { refused: refuse("usage", "Last-Event-ID must be the id of an event") };
    }
    const after = lastEventId === undefined ? query.after : Number(lastEventId);
    // Its events were another state's: waiting for ours to get there would hide all that happens until then.
    if (after > feed.position) {
      const message = `there is no event ${after} here, the last is ${feed.position}; read again from the beginning`;
      return { refused: refuse("usage", message, { details: { last: feed.position } }) };
    }
    const key = caller.kind === "key" ? caller.id : undefined;
    return { stream: { after, task, live: query.live === true, key } };
  };

  const answer = async (asked: Asked) => {
    const { task, query } = asked;
    if (task !== undefined) await client.task(task);
    if (asked.wantsStream) return streamOf(asked);
    const { after, limit } = query;
    const { events, more } = takeEvents(feed, { after, limit, maxLength: maxPageLength, task });
    const next = more ? (events.at(-1)?.event.seq ?? null) : null;
    return { json: `{"events":[${events.map(({ json }) => json).join(",")}],"next":${next}}` };
  };

  return {
    events: ({ caller, wantsStream, query, headers }) =>
      answer({ caller, wantsStream, query, task: query.task, lastEventId: headers["last-event-id"] }),
    taskEvents: ({ caller, wantsStream, params, query, headers }) =>
      answer({ caller, wantsStream, query, task: params.task, lastEventId: headers["last-event-id"] }),
  };
}
