// Counts what the worker of each attempt has posted, and refuses what passes its quota. The attempt itself goes on.

import { passedLimit, quotas, type Quota } from "../../core/quotas.ts";
import type { LeaseRights } from "../../store/service-records.ts";
import { refuseWorker, type WorkerRefusal } from "./worker-reply.ts";

export type WorkerQuotaName = "workerEvents" | "workerAsks";

/** Counts are kept for so many attempts; then the one that was used least recently is forgotten. */
const maxAttempts = 10_000;

/** Counts what was posted to this process: after a restart, counting begins anew. */
export class WorkerQuotas {
  readonly #used = new Map<string, Quota>();
  readonly #limits: Readonly<Record<WorkerQuotaName, Quota>>;

  constructor(limits: Readonly<Record<WorkerQuotaName, Quota>> = quotas) {
    this.#limits = limits;
  }

  /** Counts it, or says why it is refused and counts nothing. */
  take(name: WorkerQuotaName, { task, attempt }: LeaseRights, posted: readonly unknown[]): WorkerRefusal | undefined {
    const key = `${name} ${task}.${attempt}`;
    const used = this.#used.get(key) ?? { count: 0, bytes: 0 };
    const added = { count: posted.length, bytes: JSON.stringify(posted).length };
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
