// Who a worker is and what it may do: every call of the worker routes passes here first, for its own verb.

import { idInName } from "../../store/names.ts";
import type { Clock } from "../../ports.ts";
import { isHandle } from "../../protocol/operator/handle.ts";
import { checkClaims, openToken, TokenClaims, type WorkerVerb } from "../../protocol/operator/capability-token.ts";
import { type WorkerRefusalReason, workerRefusals } from "../../protocol/operator/worker.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { StoreView } from "../../store/view.ts";
import type { Leases } from "./leases.ts";
import { handleDigest } from "./make-frame.ts";
import type { SigningKey } from "./signing-key.ts";

export interface RefusedWorker {
  readonly ok: false;
  readonly reason: WorkerRefusalReason;
  readonly message: string;
}

export interface Worker {
  readonly ok: true;
  readonly claims: TokenClaims;
  /** Its task's row. */
  readonly task: number;
}

export interface WorkerDemand {
  readonly verb: WorkerVerb;
  /** What the request names; the token's own when it names none. */
  readonly task?: string;
  readonly attempt?: number | undefined;
}

export interface Bearers {
  readonly records: Pick<ServiceRecords, "handle">;
  readonly view: StoreView;
  readonly clock: Clock;
  readonly signingKey: SigningKey;
  readonly leases: Pick<Leases, "voidUntil">;
}

/** Form, signature, expiry, verb, task, attempt, in this order; the first that fails is told. */
export async function admitWorker(
  bearers: Bearers,
  bearer: string | undefined,
  demand: WorkerDemand,
): Promise<Worker | RefusedWorker> {
  const found = await claimsOf(bearers, bearer);
  if (!found.ok) return found;
  const { claims } = found;
  const { verb, task = claims.task, attempt = claims.attempt } = demand;
  const checked = checkClaims(claims, { now: bearers.clock.now(), verb, task, attempt });
  if (!checked.ok) return refuseWorker(checked.reason);
  const id = idInName(bearers.view.salt, claims.task);
  const listed = id === undefined ? undefined : bearers.view.task(id);
  if (id === undefined || listed === undefined) return refuseWorker("attempt_over");
  if (listed.attempt !== claims.attempt) return refuseWorker("wrong_attempt");
  if (claims.expires_at <= bearers.leases.voidUntil(id, claims.attempt)) return refuseWorker("offered_again");
  return { ok: true, claims, task: id };
}

/** Refused when the task is over; the attempt was found to be the running one. */
export function refuseEnded({ view }: Bearers, { task }: Worker): RefusedWorker | undefined {
  const listed = view.task(task);
  return listed === undefined || isTerminal(listed.status) ? refuseWorker("attempt_over") : undefined;
}

async function claimsOf(
  { records, signingKey }: Bearers,
  bearer: string | undefined,
): Promise<{ readonly ok: true; readonly claims: TokenClaims } | RefusedWorker> {
  if (bearer === undefined || bearer === "") return refuseWorker("no_bearer");
  if (!isHandle(bearer)) {
    const opened = await openToken(bearer, signingKey.tokens);
    return opened.ok ? opened : refuseWorker(opened.reason);
  }
  // Found by its digest: how long that takes says nothing about the handle.
  const row = records.handle(handleDigest(bearer));
  return row === undefined
    ? refuseWorker("unknown_handle")
    : { ok: true, claims: TokenClaims.parse(JSON.parse(row.claims)) };
}

export function refuseWorker(reason: WorkerRefusalReason): RefusedWorker {
  return { ok: false, reason, message: workerRefusals[reason].message };
}
