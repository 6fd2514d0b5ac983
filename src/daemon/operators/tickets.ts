// Tickets: a browser cannot send a header with a WebSocket, so it is given a secret for one connection, in memory only.

import { createHash, randomBytes } from "node:crypto";

import type { OperatorTicket } from "../../protocol/operator/operator-session.ts";

const life = 30_000;
/** Past this the oldest goes: whoever wanted it asks again. */
const most = 1024;

export class Tickets {
  readonly #now: () => number;
  /** By digest: how long a look-up takes says nothing about the ticket. */
  readonly #open = new Map<string, { readonly sid: string; readonly expires_at: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  issue(sid: string): OperatorTicket {
    this.#clean();
    const ticket = `ti-${randomBytes(16).toString("hex")}`;
    const expires_at = this.#now() + life;
    this.#open.set(digestOf(ticket), { sid, expires_at });
    return { ticket, expires_at };
  }

  /** True once, for the session it was given to; whatever comes of it, the ticket is used up. */
  take(sid: string, ticket: string): boolean {
    const digest = digestOf(ticket);
    const found = this.#open.get(digest);
    this.#open.delete(digest);
    return found !== undefined && found.sid === sid && this.#now() < found.expires_at;
  }

  /** In the order they were given out, which is the order they expire in. */
  #clean(): void {
    for (const [digest, { expires_at }] of this.#open) {
      if (this.#now() < expires_at && this.#open.size < most) return;
      this.#open.delete(digest);
    }
  }
}

function digestOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("hex");
}
