// Follows events over HTTP: yields every event once and in order, also over lost connections and restarts (invariant 9).

import { StreamEnd } from "../protocol/api/task-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import { LiveDelta, TaskEvent } from "../protocol/task/event.ts";
import type { Service } from "./call.ts";
import type { EventOrDelta, FollowOptions } from "./client.ts";
import { readEventStream, type SentEvent } from "./read-event-stream.ts";
import { backoffMs, isTransient, sleep } from "./retry.ts";

export interface FollowLimits {
  /** How long the service may be away before following fails. */
  readonly giveUpAfterMs: number;
  /** How long a stream may be silent before it counts as lost; the service sends a heartbeat every 15 seconds. */
  readonly silenceMs: number;
}

/** Ends when the task and all below it have ended, and without an error when the signal is aborted. */
export async function* follow(
  service: Service,
  { task, after = 0, live, signal, onLost }: FollowOptions,
  { giveUpAfterMs, silenceMs }: FollowLimits,
): AsyncGenerator<EventOrDelta> {
  let last = after;
  let failures = 0;
  let lostAt: number | undefined;
  const onBytes = (): void => {
    failures = 0;
    lostAt = undefined;
  };
  const isAborted = (): boolean => signal?.aborted === true;
  while (!isAborted()) {
    const connection = new AbortController();
    const either = signal === undefined ? connection.signal : AbortSignal.any([signal, connection.signal]);
    let cause: unknown = new TuttiError("unreachable", `the event stream of ${service.url} broke off`);
    try {
      const query = { after: last, ...(live === true ? { live } : {}) };
      const name = task === undefined ? "events" : "taskEvents";
      const headers = last > 0 ? { "last-event-id": String(last) } : {};
      const parts = { query, headers, ...(task === undefined ? {} : { params: { task } }) };
      const { body } = await service.open(name, parts, { accept: "text/event-stream", signal: either });
      if (body === null) throw cause;
      for await (const sent of readEventStream(body, { silenceMs, onBytes })) {
        const item = parse(sent, service.url);
        if (item === undefined) continue;
        if ("end" in item) {
          if (item.end.reason === "settled") return;
          // The reader was too slow, or the service stops: the next connection goes on after the last event.
          if (item.end.reason === "error") cause = stopped(item.end.error, service.url);
          break;
        }
        if ("event" in item) {
          if (item.event.seq <= last) continue;
          last = item.event.seq;
        }
        yield item;
      }
    } catch (thrown) {
      if (isAborted()) return;
      // A broken connection throws errors of the runtime. A TuttiError is a reply of the service, and may be final.
      if (thrown instanceof TuttiError && !isTransient(thrown)) throw thrown;
      cause = thrown instanceof TuttiError ? thrown : new TuttiError("unreachable", text(thrown), { cause: thrown });
    } finally {
      connection.abort();
    }
    lostAt ??= Date.now();
    const giveUpAt = lostAt + giveUpAfterMs;
    if (Date.now() >= giveUpAt) throw gone(cause, service.url, giveUpAfterMs);
    await onLost?.();
    await sleep(Math.min(backoffMs(failures), Math.max(0, giveUpAt - Date.now())), signal);
    failures += 1;
  }
}

type StreamItem = EventOrDelta | { readonly end: StreamEnd };

/** Undefined for a kind of event that only a newer service sends. */
function parse({ event, data }: SentEvent, url: string): StreamItem | undefined {
  try {
    if (event === "message") return { event: TaskEvent.parse(JSON.parse(data)) };
    if (event === "live") return { live: LiveDelta.parse(JSON.parse(data)) };
    return event === "end" ? { end: StreamEnd.parse(JSON.parse(data)) } : undefined;
  } catch (thrown) {
    const message = `${url} sent an event that this version does not understand; use the same version on both sides`;
    throw new TuttiError("newer", message, { cause: thrown });
  }
}

function stopped({ message }: { readonly message: string }, url: string): TuttiError {
  return new TuttiError("unreachable", `${url} ended the event stream: ${message}`);
}

function gone(cause: unknown, url: string, giveUpAfterMs: number): TuttiError {
  const seconds = Math.round(giveUpAfterMs / 1_000);
  const message = `${url} did not come back within ${seconds} s (${text(cause)}); start it with \`tutti up\` and follow again`;
  return new TuttiError("unreachable", message, { cause, details: { url } });
}

function text(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
