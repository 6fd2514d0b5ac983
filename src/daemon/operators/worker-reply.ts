// What a worker's call comes to: a value, or a refusal with its reason.

import { type WorkerRefusalReason, workerRefusals } from "../../protocol/operator/worker.ts";

export interface WorkerRefusal {
  readonly ok: false;
  readonly reason: WorkerRefusalReason;
  readonly message: string;
}

export type WorkerReply<T> = { readonly ok: true; readonly value: T } | WorkerRefusal;

export function refuseWorker(reason: WorkerRefusalReason): WorkerRefusal {
  return { ok: false, reason, message: workerRefusals[reason].message };
}
