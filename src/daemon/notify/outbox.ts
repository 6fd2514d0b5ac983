// Notices that are still to be delivered: durable before they are sent, tried again until they arrive or are of no use.

import type { Clock } from "../../ports.ts";
import type { ServiceRecords, NoticeRow } from "../../store/service-records.ts";
import type { Store } from "../../store/store.ts";
import type { Log } from "../log/log.ts";
import { Notice } from "./notice.ts";
import type { Sent, Target } from "./target.ts";

export interface OutboxOptions {
  readonly targets: readonly Target[];
  /** Set up, but of no use in this process: what is kept for them stays. */
  readonly resting?: readonly string[];
  readonly store: Pick<Store, "committed" | "failure">;
  readonly records: ServiceRecords;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Whether there is still a point in telling it. */
  readonly matters: (notice: Notice) => boolean;
  readonly random?: () => number;
}

const maxRows = 1_000;
const maxAtOnce = 4;
const firstDelayMs = 5_000;
const longestDelayMs = 60 * 60 * 1000;
/** No try is put off for longer; one that is due later was put off by a clock that has been set back since. */
const farthestMs = 2 * longestDelayMs;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #targets: Map<string, Target>;
  /** What the store has, by id, oldest first. */
  readonly #rows: Map<string, NoticeRow>;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #cancelTimer: (() => void) | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#targets = new Map(options.targets.map((target) => [target.name, target]));
    this.#rows = new Map(options.records.notices().map((row) => [row.id, row]));
    const known = new Set([...this.#targets.keys(), ...(options.resting ?? [])]);
    const orphans = [...this.#rows.values()].filter(({ target }) => !known.has(target));
    for (const row of orphans) this.#remove(row);
    if (orphans.length > 0)
      options.log.warn({ notices: orphans.length }, "notices for what is no longer set up are dropped");
  }

  /** Begins with what an earlier process left. */
  start(): void {
    this.#pump();
  }

  /** Queues it for every target in this tick's commit; it is sent once that is on disk. */
  add(notice: Notice, body: string): void {
    const { clock } = this.#options;
    for (const target of this.#targets.keys()) {
      this.#makeRoom(target);
      const now = clock.now();
      this.#put({ id: `${notice.id}.${target}`, target, body, tries: 0, due: now, created_at: now });
    }
    this.#pump();
  }

  /** What is under way is given up and stays for the next start. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancelTimer?.();
    await Promise.allSettled(this.#underWay.values());
  }

  #pump(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#stop.signal.aborted) return;
    const now = this.#options.clock.now();
    const running = new Map<string, number>();
    for (const id of this.#underWay.keys()) {
      const target = this.#rows.get(id)?.target ?? "";
      running.set(target, (running.get(target) ?? 0) + 1);
    }
    let next = Infinity;
    for (const row of this.#rows.values()) {
      if (this.#underWay.has(row.id) || !this.#targets.has(row.target)) continue;
      const atOnce = running.get(row.target) ?? 0;
      if (row.due > now && row.due - now <= farthestMs) next = Math.min(next, row.due);
      else if (atOnce < maxAtOnce) {
        running.set(row.target, atOnce + 1);
        this.#begin(row);
      }
    }
    if (next !== Infinity) this.#cancelTimer = this.#options.clock.timer(next - now, () => this.#pump());
  }

  #begin(row: NoticeRow): void {
    const delivery = this.#deliver(row)
      .catch((thrown: unknown) => {
        // Only a store that has failed for good: everything stops then, and the next start goes on from what is on disk.
        this.#stop.abort();
        this.#options.log.error({ err: thrown }, "notices cannot be kept; nobody is told any more");
      })
      .then(() => {
        this.#underWay.delete(row.id);
        this.#pump();
      });
    this.#underWay.set(row.id, delivery);
  }

  async #deliver(row: NoticeRow): Promise<void> {
    const { store, clock, log, matters } = this.#options;
    const target = this.#targets.get(row.target);
    const notice = noticeIn(row);
    await store.committed();
    if (target === undefined || notice === undefined || !matters(notice)) return this.#remove(row);
    if (clock.now() - row.created_at > target.maxAgeMs) return this.#giveUp(row, "it is too old");
    const tried = { ...row, tries: row.tries + 1, due: clock.now() + this.#delay(row.tries + 1) };
    if (target.claimed) {
      this.#put(tried);
      await store.committed();
    }
    if (this.#stop.signal.aborted) return;
    const sent = await target.send(notice, row.body, this.#stop.signal);
    if (sent.outcome === "delivered") {
      log.info({ notice: notice.id, target: target.name, tries: tried.tries }, "told");
      return this.#remove(row);
    }
    if (this.#stop.signal.aborted) return;
    if (sent.outcome === "gone") return this.#shut(target, sent.reason);
    this.#again(tried, target, sent);
  }

  #again(tried: NoticeRow, target: Target, sent: Extract<Sent, { outcome: "failed" }>): void {
    const { clock, log } = this.#options;
    const due = clock.now() + Math.max(this.#delay(tried.tries), sent.waitMs ?? 0);
    if (tried.tries >= target.maxTries || due - tried.created_at > target.maxAgeMs) {
      return this.#giveUp(tried, sent.reason);
    }
    log.warn(
      { notice: tried.id, reason: sent.reason, again_in_s: Math.round((due - clock.now()) / 1000) },
      "not told yet",
    );
    this.#put({ ...tried, due });
  }

  #giveUp(row: NoticeRow, reason: string): void {
    this.#options.log.error({ notice: row.id, tries: row.tries, reason }, "a notice is given up");
    this.#remove(row);
  }

  #shut(target: Target, reason: string): void {
    this.#targets.delete(target.name);
    const rows = [...this.#rows.values()].filter((row) => row.target === target.name);
    for (const row of rows) this.#remove(row);
    const message = "nothing more is sent there until the next start";
    this.#options.log.warn({ target: target.name, reason, dropped: rows.length }, message);
  }

  /** 5 s, 15 s, … one hour, a fifth more or less, so that many do not come back at once. */
  #delay(tries: number): number {
    const random = this.#options.random ?? Math.random;
    return Math.round(Math.min(longestDelayMs, firstDelayMs * 3 ** (tries - 1)) * (0.8 + 0.4 * random()));
  }

  #makeRoom(target: string): void {
    const own = [...this.#rows.values()].filter((row) => row.target === target);
    if (own.length < maxRows) return;
    const oldest = own.find((row) => !this.#underWay.has(row.id));
    if (oldest !== undefined) this.#giveUp(oldest, "too many are waiting");
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

/** Undefined for one of another version, which is dropped. */
function noticeIn({ body }: NoticeRow): Notice | undefined {
  try {
    return Notice.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}
