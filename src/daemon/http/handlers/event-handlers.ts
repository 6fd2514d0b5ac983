// Answers with events: a page of JSON, or a stream for a caller that accepts server-sent events.

import { TuttiError } from "../../../protocol/error.ts";
import type { TaskId } from "../../../protocol/ids.ts";
import { idInName } from "../../../store/names.ts";
import type { Caller } from "../authorize.ts";
import type { HttpContext } from "../context.ts";
import type { StreamRequest } from "../event-stream.ts";
import type { Handlers } from "../handler.ts";
import { type HttpError, httpError } from "../http-error.ts";

/** In characters. The event that reaches it is the last of its page. */
const pageLength = 1024 * 1024;

interface EventsRequest {
  readonly caller: Caller;
  readonly wantsStream: boolean;
  readonly task: TaskId | undefined;
  readonly query: { readonly after: number; readonly limit: number; readonly live?: boolean | undefined };
  readonly lastEventId: string | undefined;
}

export function eventHandlers({ state }: HttpContext): Pick<Handlers, "events" | "taskEvents"> {
  const { feed, view } = state;
  const mustExist = async (task: TaskId): Promise<void> => {
    const id = idInName(view.salt, task);
    const place = id === undefined ? undefined : await view.place(id);
    if (place === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
  };

  const stream = async (request: EventsRequest): Promise<{ error: HttpError } | { stream: StreamRequest }> => {
    const { caller, task, query, lastEventId } = request;
    if (lastEventId !== undefined && !/^\d{1,15}$/.test(lastEventId)) {
      return { error: httpError("usage", "Last-Event-ID must be the id of an event") };
    }
    const after = lastEventId === undefined ? query.after : Number(lastEventId);
    // Such an id comes from another state folder. If the stream waited for it, all events before it would be missed.
    const last = after <= feed.position ? feed.position : await view.lastEvent();
    if (after > last) {
      const message = `there is no event ${after}, the last one is ${last}; read again from the beginning`;
      return { error: httpError("usage", message, { details: { last } }) };
    }
    const { id: key, page } = caller.kind === "key" ? caller : {};
    return { stream: { after, task, live: query.live === true, key, page } };
  };

  const page = async ({ task, query: { after, limit } }: EventsRequest): Promise<{ json: string }> => {
    const { events, more } = await feed.read({ after, limit, maxLength: pageLength, task });
    const next = more ? (events.at(-1)?.event.seq ?? null) : null;
    return { json: `{"events":[${events.map(({ json }) => json).join(",")}],"next":${next}}` };
  };

  const answer = async (request: EventsRequest) => {
    if (request.task !== undefined) await mustExist(request.task);
    return request.wantsStream ? stream(request) : page(request);
  };

  return {
    events: ({ caller, wantsStream, query, headers }) =>
      answer({ caller, wantsStream, query, task: query.task, lastEventId: headers["last-event-id"] }),
    taskEvents: ({ caller, wantsStream, params, query, headers }) =>
      answer({ caller, wantsStream, query, task: params.task, lastEventId: headers["last-event-id"] }),
  };
}
