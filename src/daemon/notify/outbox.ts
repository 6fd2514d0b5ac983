// Notices that are still to be delivered. They are stored before they are sent, and tried again until they are delivered.

import { parseJson } from "../../protocol/json/parse-json.ts";
import type { Clock } from "../../ports.ts";
import type { ServiceRecords, NoticeRow } from "../../store/service-records.ts";
import type { Store } from "../../store/store.ts";
import type { Log } from "../log/log.ts";
import { Notice } from "./notice.ts";
import type { SendResult, Target } from "./target.ts";

export interface OutboxOptions {
  readonly targets: readonly Target[];
  /** Targets that are configured, but cannot be used by this process. Their notices are kept. */
  readonly unusable?: readonly string[];
  readonly store: Pick<Store, "committed" | "failure">;
  readonly records: ServiceRecords;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** False if nobody needs the notice any more, such as that of an ask that was answered. */
  readonly isRelevant: (notice: Notice) => Promise<boolean>;
  readonly random?: () => number;
}

const maxNoticesPerTarget = 1_000;
const maxConcurrent = 4;
const firstDelayMs = 5_000;
const maxDelayMs = 60 * 60 * 1000;
/** No try is ever put off for longer. One that is due later was recorded before the clock was set back, and is made now. */
const maxPlausibleDelayMs = 2 * maxDelayMs;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #targets: Map<string, Target>;
  /** A copy of the stored rows, oldest first. A row is stored before its notice is sent, and a restart starts from the rows. */
  readonly #rows: Map<string, NoticeRow>;
  readonly #sending = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #cancelTimer: (() => void) | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#targets = new Map(options.targets.map((target) => [target.name, target]));
    this.#rows = new Map(options.records.notices().map((row) => [row.id, row]));
    const known = new Set([...this.#targets.keys(), ...(options.unusable ?? [])]);
    const orphans = [...this.#rows.values()].filter(({ target }) => !known.has(target));
    for (const row of orphans) this.#remove(row);
    if (orphans.length > 0) {
      options.log.warn({ notices: orphans.length }, "dropped notices for targets that are no longer configured");
    }
  }

  /** Starts with the notices that an earlier process left. */
  start(): void {
    this.#pump();
  }

  /** Stores the notice for every target, with the commit of this tick. It is sent once that is on disk. */
  add(notice: Notice, body: string): void {
    const { clock } = this.#options;
    for (const target of this.#targets.keys()) {
      this.#makeRoom(target);
      const now = clock.now();
      this.#put({ id: `${notice.id}.${target}`, target, body, tries: 0, due: now, created_at: now });
    }
    this.#pump();
  }

  /** Breaks off tries that are being made. Their notices stay for the next start. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancelTimer?.();
    await Promise.allSettled(this.#sending.values());
  }

  #pump(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#stop.signal.aborted) return;
    const now = this.#options.clock.now();
    const running = new Map<string, number>();
    for (const id of this.#sending.keys()) {
      const target = this.#rows.get(id)?.target ?? "";
      running.set(target, (running.get(target) ?? 0) + 1);
    }
    let next = Infinity;
    for (const row of this.#rows.values()) {
      if (this.#sending.has(row.id) || !this.#targets.has(row.target)) continue;
      const concurrent = running.get(row.target) ?? 0;
      if (row.due > now && row.due - now <= maxPlausibleDelayMs) next = Math.min(next, row.due);
      else if (concurrent < maxConcurrent) {
        running.set(row.target, concurrent + 1);
        this.#begin(row);
      }
    }
    if (next !== Infinity) this.#cancelTimer = this.#options.clock.timer(next - now, () => this.#pump());
  }

  #begin(row: NoticeRow): void {
    const delivery = this.#deliver(row)
      .catch((thrown: unknown) => {
        // Only a failed store gets here. The daemon stops then, and the next start continues from what is on disk.
        this.#stop.abort();
        this.#options.log.error({ err: thrown }, "notices cannot be stored; no more notices are sent");
      })
      .then(() => {
        this.#sending.delete(row.id);
        this.#pump();
      });
    this.#sending.set(row.id, delivery);
  }

  async #deliver(row: NoticeRow): Promise<void> {
    const { store, clock, log, isRelevant } = this.#options;
    const target = this.#targets.get(row.target);
    const notice = noticeIn(row);
    await store.committed();
    if (target === undefined || notice === undefined || !(await isRelevant(notice))) return this.#remove(row);
    if (clock.now() - row.created_at > target.maxAgeMs) return this.#giveUp(row, "it is too old");
    const tried = { ...row, tries: row.tries + 1, due: clock.now() + this.#delay(row.tries + 1) };
    if (target.recordsTryFirst) {
      this.#put(tried);
      await store.committed();
    }
    if (this.#stop.signal.aborted) return;
    const result = await target.send(notice, row.body, this.#stop.signal);
    if (result.outcome === "delivered") {
      log.info({ notice: notice.id, target: target.name, tries: tried.tries }, "a notice was delivered");
      return this.#remove(row);
    }
    if (this.#stop.signal.aborted) return;
    if (result.outcome === "gone") return this.#dropTarget(target, result.reason);
    this.#retry(tried, target, result);
  }

  #retry(tried: NoticeRow, target: Target, failure: Extract<SendResult, { outcome: "failed" }>): void {
    const { clock, log } = this.#options;
    const due = clock.now() + Math.max(this.#delay(tried.tries), failure.retryAfterMs ?? 0);
    if (tried.tries >= target.maxTries || due - tried.created_at > target.maxAgeMs) {
      return this.#giveUp(tried, failure.reason);
    }
    const retry_in_s = Math.round((due - clock.now()) / 1000);
    log.warn({ notice: tried.id, reason: failure.reason, retry_in_s }, "a notice could not be delivered yet");
    this.#put({ ...tried, due });
  }

  #giveUp(row: NoticeRow, reason: string): void {
    this.#options.log.error({ notice: row.id, tries: row.tries, reason }, "gave up delivering a notice");
    this.#remove(row);
  }

  #dropTarget(target: Target, reason: string): void {
    this.#targets.delete(target.name);
    const rows = [...this.#rows.values()].filter((row) => row.target === target.name);
    for (const row of rows) this.#remove(row);
    const message = "a target wants no more notices; it gets none until the next start";
    this.#options.log.warn({ target: target.name, reason, dropped: rows.length }, message);
  }

  /** 5 s, 15 s, … up to one hour, each a fifth more or less, so that many notices are not retried at the same moment. */
  #delay(tries: number): number {
    const random = this.#options.random ?? Math.random;
    return Math.round(Math.min(maxDelayMs, firstDelayMs * 3 ** (tries - 1)) * (0.8 + 0.4 * random()));
  }

  #makeRoom(target: string): void {
    const own = [...this.#rows.values()].filter((row) => row.target === target);
    if (own.length < maxNoticesPerTarget) return;
    const oldest = own.find((row) => !this.#sending.has(row.id));
    if (oldest !== undefined) this.#giveUp(oldest, "too many notices are waiting");
  }

  #put(row: NoticeRow): void {
    this.#options.records.putNotice(row);
    this.#rows.set(row.id, row);
  }

  #remove({ id }: NoticeRow): void {
    this.#options.records.removeNotice(id);
    this.#rows.delete(id);
  }
}

/** Returns undefined for a notice that another version has stored in another form. It is dropped. */
function noticeIn({ body }: NoticeRow): Notice | undefined {
  return Notice.safeParse(parseJson(body)).data;
}
