// How long the worker of an attempt may be silent: kept in the store, so that a restart neither forgets nor hurries it.

import { idInName } from "../../store/names.ts";
import type { Clock } from "../../ports.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { leaseAfterProgress } from "../../protocol/operator/lease.ts";
import { defaultTokenLife } from "../../protocol/operator/capability-token.ts";
import type { ServiceRecords, LeaseRow } from "../../store/service-records.ts";

export interface LeasesOptions {
  /** Of the store; part of every task's name. */
  readonly salt: string;
  readonly records: Pick<ServiceRecords, "lease" | "putLease">;
  readonly committed: () => Promise<void>;
  readonly clock: Clock;
}

export class Leases {
  readonly #options: LeasesOptions;
  readonly #startedAt: number;
  /** Written and perhaps not yet on disk, where a read would not find it. */
  readonly #queued = new Map<string, LeaseRow>();

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  /** A token went out with an offer. */
  offered(task: number, attempt: number, expires_at: number): void {
    const known = this.#find(task, attempt);
    if (known === undefined || !isTaken(known)) this.#put({ ...blank, ...known, task, attempt, due: expires_at });
  }

  /** An offer nobody has taken up goes to another operator: the rights that went out with it must not be used beside new ones. */
  takenBack(task: number, attempt: number): void {
    const known = this.#find(task, attempt);
    if (known !== undefined && !isTaken(known)) this.#put({ ...known, void_until: known.due });
  }

  /** Rights that end by then are dead; 0 when none were taken back. */
  voidUntil(task: number, attempt: number): number {
    return this.#find(task, attempt)?.void_until ?? 0;
  }

  /** A worker has its prompt: it may work in silence until its token ends. */
  fetched(task: number, attempt: number, expires_at: number): void {
    const known = this.#find(task, attempt) ?? { ...blank, task, attempt };
    const due = known.posted_at === null ? expires_at : Math.max(known.due, this.#soon());
    this.#put({ ...known, due, fetched_at: known.fetched_at ?? this.#options.clock.now() });
  }

  /** Progress was posted: from now on it has to be heard of often. */
  progressed(task: number, attempt: number): void {
    const known = this.#find(task, attempt) ?? { ...blank, task, attempt };
    this.#put({ ...known, due: this.#soon(), posted_at: this.#options.clock.now() });
  }

  /** A sign of life that is no progress: never shortens the lease. */
  heard(task: number, attempt: number): void {
    const known = this.#find(task, attempt) ?? { ...blank, task, attempt };
    this.#put({ ...known, due: Math.max(known.due, this.#soon()) });
  }

  /** A worker is at it, or was. */
  isTaken(task: number, attempt: number): boolean {
    const known = this.#find(task, attempt);
    return known !== undefined && isTaken(known);
  }

  /** When the token of an offer nobody has taken ends; undefined when there is no such offer. */
  offerEnds(task: number, attempt: number): number | undefined {
    const known = this.#find(task, attempt);
    return known === undefined || isTaken(known) ? undefined : known.due;
  }

  /**
   * Milliseconds the worker of this attempt may still be silent. An offer nobody has taken up has no lease: it stands until
   * its own deadline, and is looked at again now and then.
   */
  leaseLeft(task: TaskId, attempt: number, { acked }: { readonly acked: boolean }): number {
    const id = idInName(this.#options.salt, task);
    const known = id === undefined ? undefined : this.#find(id, attempt);
    if (known === undefined || (!acked && !isTaken(known))) return defaultTokenLife;
    return Math.max(known.due, this.#startedAt + leaseAfterProgress) - this.#options.clock.now();
  }

  #soon(): number {
    return this.#options.clock.now() + leaseAfterProgress;
  }

  #find(task: number, attempt: number): LeaseRow | undefined {
    return this.#queued.get(`${task}.${attempt}`) ?? this.#options.records.lease(task, attempt);
  }

  #put(row: LeaseRow): void {
    const key = `${row.task}.${row.attempt}`;
    this.#options.records.putLease(row);
    this.#queued.set(key, row);
    const drop = (): void => {
      if (this.#queued.get(key) === row) this.#queued.delete(key);
    };
    this.#options.committed().then(drop, drop);
  }
}

const blank = { due: 0, fetched_at: null, posted_at: null, void_until: 0 } as const;

function isTaken({ fetched_at, posted_at }: LeaseRow): boolean {
  return fetched_at !== null || posted_at !== null;
}
