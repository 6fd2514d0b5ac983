// Tickets that open one WebSocket: a browser cannot send a header with a WebSocket, so it sends a ticket in the URL.

import { randomBytes, randomUUID } from "node:crypto";

import type { Clock } from "../../ports.ts";
import type { OperatorTicket } from "../../protocol/operator/operator-session.ts";
import type { OperatorRow, ServiceRecords } from "../../store/service-records.ts";
import { secretDigest } from "../secrets/secret-digest.ts";

export interface TicketContext {
  readonly records: Pick<ServiceRecords, "ticket" | "addTicket" | "claimTicket" | "trimTickets">;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly clock: Clock;
  /** Brings in what other nodes changed of shared records; absent where there is one process. */
  readonly catchUp?: () => Promise<void>;
}

/** The operator session that a ticket is for; the ticket ends with the API key of that session. */
export type TicketOwner = Pick<OperatorRow, "sid" | "api_key">;

const lifetimeMs = 30_000;
/** Beyond this number the oldest tickets are dropped; a client whose ticket was dropped asks for another. */
const maxTickets = 1024;

/** Issues a ticket for one connection of this operator session, valid for half a minute in any process on this store. */
export async function issueTicket(
  { records, committed, clock }: TicketContext,
  { sid, api_key }: TicketOwner,
): Promise<OperatorTicket> {
  const now = clock.now();
  const ticket = `ti-${randomBytes(16).toString("hex")}`;
  const expires_at = now + lifetimeMs;
  records.trimTickets({ expiredBefore: now, keep: maxTickets - 1 });
  records.addTicket({ digest: secretDigest(ticket), sid, expires_at, api_key });
  await committed();
  return { ticket, expires_at };
}

/**
 * Returns true once, for the operator session the ticket was issued to. A ticket shown for another session is used up too.
 * The claim on the stored row decides: of two processes that are shown the same ticket, one accepts it.
 */
export async function redeemTicket(
  { records, committed, clock, catchUp }: TicketContext,
  { sid, ticket }: { readonly sid: string; readonly ticket: string },
): Promise<boolean> {
  const digest = secretDigest(ticket);
  // It may have been issued by another node just now.
  if (records.ticket(digest) === undefined) await catchUp?.();
  const found = records.ticket(digest);
  if (found === undefined || found.claim !== null) return false;
  const claim = randomUUID();
  records.claimTicket(digest, claim);
  await committed();
  return records.ticket(digest)?.claim === claim && found.sid === sid && clock.now() < found.expires_at;
}
