// Counts what the worker of each attempt has posted, and refuses what passes its quota. The attempt itself goes on.

import { passedLimit, quotas, type Quota } from "../../core/quotas.ts";
import type { LeaseRights } from "../../store/service-records.ts";
import type { Store } from "../../store/store.ts";
import { refuseWorker, type WorkerRefusal } from "./worker-reply.ts";

export type WorkerQuotaName = "workerEvents" | "workerAsks";

interface Posted {
  readonly store: Pick<Store, "mailSent">;
  readonly rights: Pick<LeaseRights, "task" | "attempt">;
  readonly posted: readonly unknown[];
}

/** Counts are kept for so many attempts; then the one that was used least recently is forgotten. */
const maxAttempts = 10_000;

const mailKinds = { workerEvents: "worker_event", workerAsks: "worker_ask" } as const;

/** What was posted before this process, or was forgotten, is counted from the store. */
export class WorkerQuotas {
  readonly #used = new Map<string, Quota>();
  readonly #limits: Readonly<Record<WorkerQuotaName, Quota>>;

  constructor(limits: Readonly<Record<WorkerQuotaName, Quota>> = quotas) {
    this.#limits = limits;
  }

  /** Counts it, or says why it is refused and counts nothing. */
  take(name: WorkerQuotaName, { store, rights, posted }: Posted): WorkerRefusal | undefined {
    const { task, attempt } = rights;
    const key = `${name} ${task}.${attempt}`;
    const used = this.#used.get(key) ?? store.mailSent(task, attempt, mailKinds[name]);
    const added = { count: posted.length, bytes: Buffer.byteLength(JSON.stringify(posted)) };
    const passed = passedLimit(this.#limits[name], used, added);
    if (passed === "count") return refuseWorker(name === "workerEvents" ? "too_many_events" : "too_many_asks");
    if (passed === "bytes") return refuseWorker("posted_too_much");
    this.#used.delete(key);
    this.#used.set(key, { count: used.count + added.count, bytes: used.bytes + added.bytes });
    const [oldest] = this.#used.keys();
    if (this.#used.size > maxAttempts && oldest !== undefined) this.#used.delete(oldest);
    return undefined;
  }
}
