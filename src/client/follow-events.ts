// Follows events over the wire: goes on after a lost connection, misses nothing, tells nothing twice (invariant 9).

import { StreamEnd } from "../protocol/api/task-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import { LiveDelta, TaskEvent } from "../protocol/task/event.ts";
import { delayBefore, mayPass, pause } from "./backoff.ts";
import type { Service } from "./call.ts";
import type { FollowItem, FollowOptions } from "./client.ts";
import { readEventStream, type SentEvent } from "./read-event-stream.ts";

export interface FollowPatience {
  /** How long the service may be away before the following gives up. */
  readonly awayMs: number;
  /** How long a stream may be silent; the service sends a heartbeat every 15 seconds. */
  readonly silenceMs: number;
}

/** Ends when the task and all below it are over, and quietly when the signal says so. */
export async function* follow(
  service: Service,
  { task, after = 0, live, signal }: FollowOptions,
  { awayMs, silenceMs }: FollowPatience,
): AsyncGenerator<FollowItem> {
  let last = after;
  let tries = 0;
  let lostAt: number | undefined;
  const heard = (): void => {
    tries = 0;
    lostAt = undefined;
  };
  const isOver = (): boolean => signal?.aborted === true;
  while (!isOver()) {
    const over = new AbortController();
    const ended = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    let why: unknown = new TuttiError("unreachable", `the event stream of ${service.url} broke off`);
    try {
      const query = { after: last, ...(live === true ? { live } : {}) };
      const name = task === undefined ? "events" : "taskEvents";
      const headers = last > 0 ? { "last-event-id": String(last) } : {};
      const parts = { query, headers, ...(task === undefined ? {} : { params: { task } }) };
      const { body } = await service.open(name, parts, { accept: "text/event-stream", signal: ended });
      if (body === null) throw why;
      for await (const sent of readEventStream(body, { silenceMs, onBytes: heard })) {
        const said = read(sent, service.url);
        if (said === undefined) continue;
        if ("end" in said) {
          if (said.end.reason === "settled") return;
          // Shed, or the service stops: what was missed is asked for again.
          if (said.end.reason === "error") why = stopped(said.end.error, service.url);
          break;
        }
        if ("event" in said) {
          if (said.event.seq <= last) continue;
          last = said.event.seq;
        }
        yield said;
      }
    } catch (thrown) {
      if (isOver()) return;
      // What a broken connection throws is not ours; a refusal is, and stays one.
      if (thrown instanceof TuttiError && !mayPass(thrown)) throw thrown;
      why = thrown instanceof TuttiError ? thrown : new TuttiError("unreachable", text(thrown), { cause: thrown });
    } finally {
      over.abort();
    }
    lostAt ??= Date.now();
    if (Date.now() - lostAt >= awayMs) throw gone(why, service.url, awayMs);
    await pause(Math.min(delayBefore(tries), Math.max(0, lostAt + awayMs - Date.now())), signal);
    tries += 1;
  }
}

type Said = FollowItem | { readonly end: StreamEnd };

/** Undefined for a name nobody knows: it is of a newer service, and says nothing to this one. */
function read({ event, data }: SentEvent, url: string): Said | undefined {
  try {
    if (event === "message") return { event: TaskEvent.parse(JSON.parse(data)) };
    if (event === "live") return { live: LiveDelta.parse(JSON.parse(data)) };
    return event === "end" ? { end: StreamEnd.parse(JSON.parse(data)) } : undefined;
  } catch (thrown) {
    const message = `${url} tells an event this version does not understand; use the same version on both sides`;
    throw new TuttiError("newer", message, { cause: thrown });
  }
}

function stopped({ message }: { readonly message: string }, url: string): TuttiError {
  return new TuttiError("unreachable", `${url} ended the event stream: ${message}`);
}

function gone(why: unknown, url: string, awayMs: number): TuttiError {
  const seconds = Math.round(awayMs / 1_000);
  const message = `${url} was away for ${seconds} s (${text(why)}); start it with \`tutti up\` and follow again`;
  return new TuttiError("unreachable", message, { cause: why, details: { url } });
}

function text(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
