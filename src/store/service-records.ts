// What the records keeps beside the tasks: keys, operators, what was sent to them, workers' handles and leases, notices, settings.

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
  /** The key it joined with, by its id: the session ends when that is revoked. */
  readonly api_key: string;
}

/** A request frame that has gone out. */
export interface SentRow {
  readonly wait: number;
  readonly sid: string;
  readonly at: number;
}

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
}

export interface LeaseRow {
  readonly task: number;
  readonly attempt: number;
  readonly due: number;
  readonly fetched_at: number | null;
  readonly posted_at: number | null;
  /** Rights that end by then are dead: the offer they came with was taken back. */
  readonly void_until: number;
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
 * On the store's own queue: what one tick writes here and there is one commit. Writes replace the row of the same key;
 * reads see what is committed.
 */
export interface ServiceRecords {
  keys(): KeyRow[];
  addKey(row: KeyRow): void;
  revokeKey(id: string, at: number): void;
  operators(): OperatorRow[];
  putOperator(row: OperatorRow): void;
  removeOperator(sid: string): void;
  sent(wait: number): SentRow | undefined;
  putSent(row: SentRow): void;
  handle(digest: string): HandleRow | undefined;
  putHandle(row: HandleRow): void;
  dropHandles(expiredBefore: number): void;
  ticket(digest: string): TicketRow | undefined;
  addTicket(row: Omit<TicketRow, "claim">): void;
  /** Changes nothing if the ticket was claimed before: after the commit, the row says whose claim was first. */
  claimTicket(digest: string, claim: string): void;
  /** Drops expired tickets, and all but the `keep` newest. */
  trimTickets(limits: { readonly expiredBefore: number; readonly keep: number }): void;
  lease(task: number, attempt: number): LeaseRow | undefined;
  putLease(row: LeaseRow): void;
  notices(): NoticeRow[];
  putNotice(row: NoticeRow): void;
  removeNotice(id: string): void;
  setting(name: string): string | undefined;
  putSetting(name: string, value: string): void;
}
