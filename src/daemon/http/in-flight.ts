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

/** Fewer responses than this are not added up: even if all of them are long, they hold less than `unreadBytes`. */
const few = 8;

/** Each operator session and each worker's token has a count of its own, as each key has. Public routes are not counted. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #open = new Map<string, Set<ServerResponse>>();

  constructor(limits: Partial<InFlightLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** Counts the response until it is closed, or returns why it may not begin. */
  begin(caller: Caller, response: ServerResponse): HttpError | undefined {
    const name = nameOf(caller);
    if (name === undefined) return undefined;
    const open = this.#open.get(name);
    if (open !== undefined && open.size >= this.#limits.requests) {
      const message = `${open.size} requests of this key are in flight, which is the limit; wait until some have ended`;
      return httpError("slow_down", message);
    }
    const unread = this.#unread(open);
    if (unread !== undefined) return unread;
    const mine = open ?? new Set();
    if (open === undefined) this.#open.set(name, mine);
    mine.add(response);
    response.once("close", () => {
      mine.delete(response);
      if (mine.size === 0) this.#open.delete(name);
    });
    return undefined;
  }

  /** Why no reply may be made now; for requests that have waited since they began. */
  refusesReply(caller: Caller): HttpError | undefined {
    const name = nameOf(caller);
    return name === undefined ? undefined : this.#unread(this.#open.get(name));
  }

  #unread(open: ReadonlySet<ServerResponse> | undefined): HttpError | undefined {
    if (open === undefined || open.size < few) return undefined;
    let bytes = 0;
    for (const { writableLength } of open) bytes += writableLength;
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
