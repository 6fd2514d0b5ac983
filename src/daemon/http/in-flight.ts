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

/** Each operator session and each worker's token has a count of its own, as each key has. Public routes are not counted. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #loads = new Map<string, CallerLoad>();

  constructor(limits: Partial<InFlightLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** Undefined for a caller that is not counted. */
  of(caller: Caller): CallerLoad | undefined {
    const name = nameOf(caller);
    if (name === undefined) return undefined;
    const known = this.#loads.get(name);
    if (known !== undefined) return known;
    const load = new CallerLoad(this.#limits, () => this.#loads.delete(name));
    this.#loads.set(name, load);
    return load;
  }
}

class CallerLoad {
  readonly #limits: InFlightLimits;
  readonly #onIdle: () => void;
  /** Responses of which something may not be read yet. Most are read at once and are never in it. */
  readonly #unread = new Set<ServerResponse>();
  #requests = 0;

  constructor(limits: InFlightLimits, onIdle: () => void) {
    this.#limits = limits;
    this.#onIdle = onIdle;
  }

  /** Counts the request until its response is closed, or returns why it may not begin. */
  begin(response: ServerResponse): HttpError | undefined {
    const refusal = this.#tooMany() ?? this.refusesReply();
    if (refusal !== undefined) return refusal;
    this.#requests += 1;
    response.on("close", () => {
      this.#unread.delete(response);
      this.#requests -= 1;
      if (this.#requests === 0) this.#onIdle();
    });
    return undefined;
  }

  /** Why no reply may be made now; for requests that have waited since they began. */
  refusesReply(): HttpError | undefined {
    let bytes = 0;
    for (const { writableLength } of this.#unread) bytes += writableLength;
    if (bytes < this.#limits.unreadBytes) return undefined;
    return httpError("slow_down", `${bytes} bytes of replies to this key are not read yet; read them first`);
  }

  /** To be called when the reply, or the first part of it, was written. */
  replied(response: ServerResponse): void {
    if (!response.writableEnded || response.writableLength > 0) this.#unread.add(response);
  }

  #tooMany(): HttpError | undefined {
    if (this.#requests < this.#limits.requests) return undefined;
    const message = `${this.#requests} requests of this key are in flight, which is the limit; wait until some have ended`;
    return httpError("slow_down", message);
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
