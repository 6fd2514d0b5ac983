// What a worker's call comes to: a value, or a refusal with its reason.

import { type WorkerRefusalReason, workerRefusals } from "../../protocol/operator/worker.ts";

export interface WorkerRefusal {
  readonly ok: false;
  readonly reason: WorkerRefusalReason;
  readonly message: string;
}

export type WorkerReply<T> = { readonly ok: true; readonly value: T } | WorkerRefusal;

/** `why` is put before what the reason says. */
export function refuseWorker(reason: WorkerRefusalReason, why?: string): WorkerRefusal {
  const { message } = workerRefusals[reason];
  return { ok: false, reason, message: why === undefined ? message : `${why}: ${message}` };
}
