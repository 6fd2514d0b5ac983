// Limits what one caller may have in flight: requests and streams that have not ended, and replies that it does not read.

import type { ServerResponse } from "node:http";

import type { Caller } from "./authorize.ts";
import { type HttpError, httpError } from "./http-error.ts";

export interface InFlightLimits {
  /** Requests and streams of one key that have not ended. */
  readonly requests: number;
  /** Bytes of replies to one key that wait to be read. One reply may go beyond it, so that every reply can be had. */
  readonly unreadBytes: number;
}

const defaultLimits: InFlightLimits = { requests: 512, unreadBytes: 32 * 1024 * 1024 };

interface Load {
  requests: number;
  /** Responses of which something may not be read yet. Most are read at once and are never in it. */
  readonly unread: Set<ServerResponse>;
}

/** Each operator session and each worker's token has a count of its own, as each key has. Public routes are not counted. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #loads = new Map<string, Load>();

  constructor(limits: Partial<InFlightLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** Counts the request until its response is closed, or returns why it may not begin. */
  begin(caller: Caller, response: ServerResponse): HttpError | undefined {
    const name = nameOf(caller);
    if (name === undefined) return undefined;
    const load = this.#loads.get(name) ?? { requests: 0, unread: new Set() };
    const refusal = this.#tooMany(load) ?? this.#tooMuchUnread(load);
    if (refusal !== undefined) return refusal;
    if (load.requests === 0) this.#loads.set(name, load);
    load.requests += 1;
    response.once("close", () => {
      load.unread.delete(response);
      load.requests -= 1;
      if (load.requests === 0) this.#loads.delete(name);
    });
    return undefined;
  }

  /** Why no reply may be made now; for requests that have waited since they began. */
  refusesReply(caller: Caller): HttpError | undefined {
    const load = this.#loadOf(caller);
    return load === undefined ? undefined : this.#tooMuchUnread(load);
  }

  /** To be called when the reply, or the first part of it, was written. */
  replied(caller: Caller, response: ServerResponse): void {
    if (response.writableEnded && response.writableLength === 0) return;
    this.#loadOf(caller)?.unread.add(response);
  }

  #loadOf(caller: Caller): Load | undefined {
    const name = nameOf(caller);
    return name === undefined ? undefined : this.#loads.get(name);
  }

  #tooMany({ requests }: Load): HttpError | undefined {
    if (requests < this.#limits.requests) return undefined;
    const message = `${requests} requests of this key are in flight, which is the limit; wait until some have ended`;
    return httpError("slow_down", message);
  }

  #tooMuchUnread({ unread }: Load): HttpError | undefined {
    let bytes = 0;
    for (const { writableLength } of unread) bytes += writableLength;
    if (bytes < this.#limits.unreadBytes) return undefined;
    return httpError("slow_down", `${bytes} bytes of replies to this key are not read yet; read them first`);
  }
}

function nameOf(caller: Caller): string | undefined {
  switch (caller.kind) {
    case "key":
      return caller.id;
    case "session":
      return caller.sid;
    case "worker":
      return caller.bearer;
    case "anonymous":
      return undefined;
  }
}
