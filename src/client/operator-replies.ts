// Remembers an operator's replies: a request that is delivered twice gets the same reply and is handled once.

import type { ClientFrame } from "../protocol/operator/frames.ts";

interface Entry {
  reply?: ClientFrame;
  /** When it was last handed to a socket, which does not mean that it arrived. */
  sentAt?: number;
}

/** How many replies are remembered. Older ones are dropped: the service has them. */
const remembered = 1_000;
/** A reply that was sent shortly before the connection broke may have been lost, and is sent resent. */
const resendWithinMs = 60_000;

export interface Replies {
  /** `new`: the request has to be handled. `busy`: it is being handled. Otherwise: the reply it was given. */
  begin(reqId: string): "new" | "busy" | ClientFrame;
  settle(reply: ClientFrame): void;
  /** There is no reply; the request is handled again when it is delivered resent. */
  forget(reqId: string): void;
  sent(reqId: string, now: number): void;
  /** The replies a new connection has to send: those never sent, and those that may not have arrived. */
  unconfirmed(now: number): ClientFrame[];
  /** The service refused the reply. If the request is over, the reply is not sent again; if not, the request is handled resent. */
  refused(reqId: string, request: { readonly over: boolean }): void;
  /** True when the reply was sent more than once, so that `already_answered` is no error. */
  wasResent(reqId: string): boolean;
}

export function rememberReplies(): Replies {
  const entries = new Map<string, Entry>();
  const resent = new Set<string>();
  return {
    begin(reqId) {
      const entry = entries.get(reqId);
      if (entry !== undefined) return entry.reply ?? "busy";
      entries.set(reqId, {});
      return "new";
    },
    settle(reply) {
      // Moved to the end, so that the map begins with the oldest replies.
      entries.delete(reply.req_id);
      entries.set(reply.req_id, { reply });
      for (const [reqId, entry] of entries) {
        if (entries.size <= remembered) break;
        if (entry.reply === undefined) continue;
        entries.delete(reqId);
        resent.delete(reqId);
      }
    },
    forget(reqId) {
      entries.delete(reqId);
      resent.delete(reqId);
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
      if (entry.sentAt !== undefined) resent.add(reqId);
      entry.sentAt = now;
    },
    unconfirmed: (now) =>
      [...entries.values()].flatMap(({ reply, sentAt }) =>
        reply !== undefined && (sentAt === undefined || now - sentAt < resendWithinMs) ? [reply] : [],
      ),
    wasResent: (reqId) => resent.has(reqId),
  };
}
