// What an operator has answered: a request that is delivered again gets the same answer, and is not worked on twice.

import type { ClientFrame } from "../protocol/operator/frames.ts";

interface Entry {
  reply?: ClientFrame;
  /** When it was last handed to a socket; that it arrived is not known. */
  sentAt?: number;
}

/** Settled requests that are remembered. Older ones are let go: the service knows what it has. */
const remembered = 1_000;
/** A reply that went out shortly before the connection broke may have been lost with it. */
const doubtMs = 60_000;

export interface Replies {
  /** `new`: it has to be worked on. `busy`: somebody does. Otherwise the answer it got. */
  begin(reqId: string): "new" | "busy" | ClientFrame;
  settle(reply: ClientFrame): void;
  /** It could not be answered; delivered again, it is worked on again. */
  forget(reqId: string): void;
  sent(reqId: string, now: number): void;
  /** What a new connection has to be told: replies that never went out, or that perhaps did not arrive. */
  owed(now: number): ClientFrame[];
  /** The reply was not taken. If the request is over, nothing is owed for it; if not, it is worked on again when it comes again. */
  refused(reqId: string, standing: { readonly over: boolean }): void;
  /** It was sent more than once, so a refusal as answered already is no trouble. */
  repeated(reqId: string): boolean;
}

export function rememberReplies(): Replies {
  const entries = new Map<string, Entry>();
  const again = new Set<string>();
  return {
    begin(reqId) {
      const entry = entries.get(reqId);
      if (entry !== undefined) return entry.reply ?? "busy";
      entries.set(reqId, {});
      return "new";
    },
    settle(reply) {
      // Put last, so that the first ones of the map are those settled longest ago.
      entries.delete(reply.req_id);
      entries.set(reply.req_id, { reply });
      for (const [reqId, entry] of entries) {
        if (entries.size <= remembered) break;
        if (entry.reply === undefined) continue;
        entries.delete(reqId);
        again.delete(reqId);
      }
    },
    forget(reqId) {
      entries.delete(reqId);
      again.delete(reqId);
    },
    refused(reqId, { over }) {
      const entry = entries.get(reqId);
      if (entry === undefined) return;
      if (over) entry.sentAt = 0;
      else entries.delete(reqId);
    },
    sent(reqId, now) {
      const entry = entries.get(reqId);
      if (entry === undefined) return;
      if (entry.sentAt !== undefined) again.add(reqId);
      entry.sentAt = now;
    },
    owed: (now) =>
      [...entries.values()].flatMap(({ reply, sentAt }) =>
        reply !== undefined && (sentAt === undefined || now - sentAt < doubtMs) ? [reply] : [],
      ),
    repeated: (reqId) => again.has(reqId),
  };
}
