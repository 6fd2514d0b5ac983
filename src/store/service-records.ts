// What the service keeps beside the tasks: API keys, operator sessions, what was sent to them, tickets, the tokens of pages,
// workers' handles and leases, notices, settings.

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly role: "admin" | "operator" | "viewer";
  /** SHA-256 of the key; the key itself is nowhere. */
  readonly digest: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
}

export interface OperatorRow {
  readonly sid: string;
  readonly digest: string;
  readonly roles: readonly string[];
  readonly created_at: number;
  readonly seen_at: number;
  /** The id of the API key it joined with: the operator session ends when that key is revoked. */
  readonly api_key: string;
}

/** To which operator session a request was sent. */
export interface SentRow {
  readonly wait: number;
  readonly sid: string;
  readonly at: number;
}

export type SentTo = Pick<SentRow, "wait" | "sid">;

export interface HandleRow {
  readonly digest: string;
  /** Claims of the token it stands for, as JSON. */
  readonly claims: string;
  readonly expires_at: number;
}

export interface TicketRow {
  /** SHA-256 of the ticket. */
  readonly digest: string;
  readonly sid: string;
  readonly expires_at: number;
  /** A random id of whoever used it; null while it is unused. */
  readonly claim: string | null;
  /** The id of the API key of its operator session. */
  readonly api_key: string;
}

/** The token of a page in a browser that signed in. */
export interface PageTokenRow {
  readonly digest: string;
  /** The id of the API key whose rights it has. */
  readonly api_key: string;
  readonly created_at: number;
  readonly expires_at: number;
}

export interface LeaseRow {
  readonly task: number;
  readonly attempt: number;
  /** Until a worker has the attempt: when the rights of the offer end. Then: until when its worker may be silent. */
  readonly due: number;
  readonly fetched_at: number | null;
  readonly posted_at: number | null;
  /** Rights that expire at this time or before are void: the offer they came with was taken back. */
  readonly void_until: number;
  /** The id of the API key of the operator session that the attempt was offered to. */
  readonly api_key: string;
  /** That key was revoked: no worker has rights to the attempt any more. */
  readonly revoked_at: number | null;
}

/** One attempt of a task, and when the rights expire with which a worker acts on it. */
export interface LeaseRights {
  readonly task: number;
  readonly attempt: number;
  readonly expires_at: number;
}

export interface NoticeRow {
  readonly id: string;
  readonly target: string;
  readonly body: string;
  readonly tries: number;
  readonly due: number;
  readonly created_at: number;
}

/**
 * Writes go through the store's queue: what one tick writes here and there is one commit. Reads see what is committed.
 * Several processes may write to the same rows. So a write that depends on what a row holds is one conditional statement,
 * and who needs to know whether it took effect reads the row after the commit.
 */
export interface ServiceRecords {
  keys(): KeyRow[];
  addKey(row: KeyRow): void;
  /** In the same commit, everything that came from the key ends: its operator sessions, tickets, pages' tokens and leases. */
  revokeKey(id: string, at: number): void;

  operators(): OperatorRow[];
  operator(sid: string): OperatorRow | undefined;
  /** The operator session that holds the name. */
  sidOfRole(role: string): string | undefined;
  /** Adds nothing if another operator session holds one of the roles, or the API key was revoked. */
  addOperator(row: OperatorRow): void;
  touchOperator(sid: string, seenAt: number): void;
  removeOperator(sid: string): void;
  /** Removes nothing if the operator was seen after this time. */
  removeIdleOperator(sid: string, lastSeen: number): void;

  sent(wait: number): SentRow | undefined;
  /** Changes nothing if the request was sent to another operator session that still exists. */
  putSent(row: SentRow): void;
  /** The request may be sent to another operator session. Changes nothing if that has happened already. */
  removeSent(wait: number, sid: string): void;

  handle(digest: string): HandleRow | undefined;
  putHandle(row: HandleRow): void;
  /** Those that expired before this time. */
  expiredHandles(before: number): HandleRow[];
  dropHandle(digest: string): void;

  ticket(digest: string): TicketRow | undefined;
  addTicket(row: Omit<TicketRow, "claim">): void;
  /** Changes nothing if the ticket was claimed before: after the commit, the row says whose claim was first. */
  claimTicket(digest: string, claim: string): void;
  /** Drops expired tickets, and all but the `keep` newest. */
  trimTickets(limits: { readonly expiredBefore: number; readonly keep: number }): void;

  pageToken(digest: string): PageTokenRow | undefined;
  /** Adds nothing if the API key was revoked. */
  addPageToken(row: PageTokenRow): void;
  dropPageToken(digest: string): void;
  /** Drops expired tokens, and all but the `keep` newest of the API key. */
  trimPageTokens(limits: { readonly expiredBefore: number; readonly apiKey: string; readonly keep: number }): void;

  lease(task: number, attempt: number): LeaseRow | undefined;
  /** Of tasks that are not over. */
  leasesOfKey(apiKey: string): LeaseRow[];
  /** Of tasks that are not over: those whose API key was revoked. */
  revokedLeases(): LeaseRow[];
  /**
   * An offer goes out with these rights at this time, and the rights of earlier offers that have expired become void.
   * Changes nothing once a worker has the attempt, and nothing unless its request is recorded as sent to that operator:
   * of two processes that offer it at once, one does. `apiKey`: the operator's.
   */
  offerLease(
    rights: LeaseRights,
    offer: { readonly apiKey: string; readonly at: number; readonly sentTo?: SentTo | undefined },
  ): void;
  /**
   * Makes the rights of the offer void. Changes nothing once a worker has the attempt, and nothing if the request is no
   * longer recorded as sent to that operator: somebody else has offered it since.
   */
  voidOffer(task: number, attempt: number, sentTo?: SentTo): void;
  /** A worker has fetched its prompt. After progress was posted it is a sign of life until `due`. Void rights change nothing. */
  recordFetch(rights: LeaseRights, times: { readonly at: number; readonly due: number }): void;
  /** Progress was posted: the worker has to be heard of again by `due`. Void rights change nothing. */
  recordProgress(rights: LeaseRights, times: { readonly at: number; readonly due: number }): void;
  /**
   * The worker has to be heard of again by one of these times, depending on whether it has posted progress. Never shortens
   * the lease. Void rights change nothing.
   */
  extendLease(rights: LeaseRights, due: { readonly beforeProgress: number; readonly afterProgress: number }): void;

  notices(): NoticeRow[];
  putNotice(row: NoticeRow): void;
  removeNotice(id: string): void;

  setting(name: string): string | undefined;
  putSetting(name: string, value: string): void;
}
