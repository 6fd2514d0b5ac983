// How long the worker of an attempt may be silent. Kept in the store, so that a restart neither forgets nor shortens it.

import { idInName, type Salt } from "../../store/names.ts";
import type { Clock } from "../../ports.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { type AttemptLives, leaseAfterProgress } from "../../protocol/operator/lease.ts";
import { defaultTokenLife } from "../../protocol/operator/capability-token.ts";
import type { LeaseRights, LeaseRow, SentTo, ServiceRecords } from "../../store/service-records.ts";
import type { Keys } from "../state/api-keys.ts";

type LeaseRows = "lease" | "offerLease" | "voidOffer" | "recordFetch" | "recordProgress" | "extendLease";

export interface LeasesOptions {
  /** The store's salt, which is part of every task's name. */
  readonly salt: Salt;
  readonly records: Pick<ServiceRecords, LeaseRows>;
  /** Resolves when everything queued so far is on disk. */
  readonly committed: () => Promise<void>;
  readonly clock: Clock;
  readonly keys: Pick<Keys, "isRevoked">;
}

export class Leases {
  readonly #options: LeasesOptions;
  /** When this process could last begin to hear workers again that it could not hear before. */
  #hearsSince: number;
  /**
   * Attempts that a worker of this process has just taken, until that is committed and can be read. The committed row
   * decides everything else: each change is one conditional statement on it.
   */
  readonly #beingTaken = new Set<string>();

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.#hearsSince = options.clock.now();
  }

  /** Workers could not be heard until now: none of them is taken for silent sooner than after a restart. */
  graceFromNow(): void {
    this.#hearsSince = this.#options.clock.now();
  }

  /**
   * Rights were issued to go out with an offer. After the commit, `offerStands` says whether they may be sent. They belong
   * to the API key of the operator that gets the offer. Rights of an earlier offer that have expired are void from now on.
   * With `sentTo`, nothing is recorded unless the request is recorded as sent to that operator.
   */
  recordOffer(rights: LeaseRights, apiKey: string, sentTo?: SentTo): void {
    this.#options.records.offerLease(rights, { apiKey, at: this.#options.clock.now(), sentTo });
  }

  /**
   * The offer goes to another operator, unless a worker has taken it: two workers must not do the same attempt. `sentTo`:
   * whose offer it was; one that somebody else has made since stays.
   */
  voidOffer(task: number, attempt: number, sentTo?: SentTo): void {
    this.#options.records.voidOffer(task, attempt, sentTo);
  }

  /** As committed: no worker has the attempt, and the rights are in force. */
  offerStands(rights: LeaseRights): boolean {
    const row = this.#options.records.lease(rights.task, rights.attempt);
    return row === undefined || (!isTaken(row) && this.whyVoid(rights) === undefined);
  }

  /** Why the rights are in force no more: the key they came from was revoked, or their offer was taken back. */
  whyVoid({ task, attempt, expires_at }: LeaseRights): "key_revoked" | "offered_again" | undefined {
    const row = this.#options.records.lease(task, attempt);
    if (row === undefined) return undefined;
    if (this.#isRevoked(row)) return "key_revoked";
    return expires_at <= row.void_until ? "offered_again" : undefined;
  }

  /** Rights that expire by this time are void; 0 if no offer of the attempt was taken back. */
  voidUntil(task: number, attempt: number): number {
    return this.#options.records.lease(task, attempt)?.void_until ?? 0;
  }

  /**
   * A worker fetches its prompt: it may work in silence until its token expires. Resolves once that is committed. If the
   * rights were made void first, it says why, and then the worker must not have the prompt.
   */
  async recordFetch(rights: LeaseRights, lives: AttemptLives): Promise<"key_revoked" | "offered_again" | undefined> {
    this.#options.records.recordFetch(rights, this.#times(lives));
    await this.#taken(rights);
    return this.whyVoid(rights);
  }

  /** A worker posted progress: from now on it has to be heard of often. */
  recordProgress(rights: LeaseRights, lives: AttemptLives): void {
    this.#options.records.recordProgress(rights, this.#times(lives));
    this.#taken(rights).catch(() => undefined);
  }

  /** A sign of life that is no progress. It never shortens the lease. */
  recordSignOfLife(rights: LeaseRights, lives: AttemptLives): void {
    const { at, due } = this.#times(lives);
    this.#options.records.extendLease(rights, { beforeProgress: at + lives.tokenMs, afterProgress: due });
  }

  /** A worker has fetched its prompt or posted progress. */
  isTaken(task: number, attempt: number): boolean {
    if (this.#beingTaken.has(`${task}.${attempt}`)) return true;
    const row = this.#options.records.lease(task, attempt);
    return row !== undefined && isTaken(row);
  }

  /** The same once everything queued so far is committed. */
  async hasWorker(task: TaskId, attempt: number): Promise<boolean> {
    await this.#options.committed();
    const id = idInName(this.#options.salt, task);
    return id !== undefined && this.isTaken(id, attempt);
  }

  /** When the rights of an offer end that no worker has taken; undefined if there is no such offer. */
  offerExpiresAt(task: number, attempt: number): number | undefined {
    const row = this.#options.records.lease(task, attempt);
    return row === undefined || isTaken(row) ? undefined : row.due;
  }

  /**
   * Milliseconds the worker of this attempt may still be silent. An offer that no worker has taken has no lease: it stands
   * until its own deadline, and the caller looks again now and then. Nothing is left when the worker lost its rights.
   */
  async leaseLeft(task: TaskId, attempt: number, { acked }: { readonly acked: boolean }): Promise<number> {
    // A sign of life may be queued; the row is read once it is committed.
    await this.#options.committed();
    const id = idInName(this.#options.salt, task);
    const row = id === undefined ? undefined : this.#options.records.lease(id, attempt);
    if (row === undefined || (!acked && !isTaken(row))) return defaultTokenLife;
    if (this.#isRevoked(row)) return 0;
    return Math.max(row.due, this.#hearsSince + leaseAfterProgress) - this.#options.clock.now();
  }

  /** The row says so once that is committed; the keys say so at once. */
  #isRevoked({ api_key, revoked_at }: LeaseRow): boolean {
    return revoked_at !== null || this.#options.keys.isRevoked(api_key);
  }

  #times({ leaseMs }: AttemptLives): { readonly at: number; readonly due: number } {
    const at = this.#options.clock.now();
    return { at, due: at + leaseMs };
  }

  async #taken({ task, attempt }: LeaseRights): Promise<void> {
    const key = `${task}.${attempt}`;
    this.#beingTaken.add(key);
    try {
      await this.#options.committed();
    } finally {
      this.#beingTaken.delete(key);
    }
  }
}

function isTaken({ fetched_at, posted_at }: LeaseRow): boolean {
  return fetched_at !== null || posted_at !== null;
}
