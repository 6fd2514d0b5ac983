// Tells the tasks whose workers lost their rights, so that nobody waits for a worker that nothing is accepted from.

import type { Tasks } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type RightsEndedPart } from "../../protocol/operator/operator-request.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import { taskName } from "../../store/names.ts";
import type { LeaseRow } from "../../store/service-records.ts";
import type { Store } from "../../store/store.ts";
import type { Leases } from "./leases.ts";

export interface EndRightsContext {
  /** Has the trees that this process runs; those of other nodes are told there. */
  readonly store: Pick<Store, "salt" | "lastRun" | "waitAt" | "answer">;
  readonly engine: Pick<Tasks, "message">;
  readonly leases: Pick<Leases, "isTaken">;
}

/** Queued in this tick. An offer that nobody has taken up is not lost: it goes to another operator. */
export function tellRightsEnded(context: EndRightsContext, leases: readonly LeaseRow[]): Promise<void>[] {
  return leases.filter((lease) => hasWorker(context, lease)).map((lease) => tell(context, lease));
}

/** A worker has the attempt, or the operator said that one will. */
function hasWorker({ store, leases }: EndRightsContext, { task, attempt }: LeaseRow): boolean {
  if (store.lastRun(task)?.attempt !== attempt) return false;
  if (leases.isTaken(task, attempt)) return true;
  const offer = store.waitAt(task, attempt, operatorKeys.spawn);
  return offer !== undefined && store.answer(offer.id) !== undefined;
}

async function tell({ store, engine }: EndRightsContext, { task, attempt }: LeaseRow): Promise<void> {
  const data: RightsEndedPart = { rights_ended: { attempt } };
  const message = { name: "worker", role: "assistant" as const, parts: [{ part_type: "data" as const, data }] };
  try {
    await engine.message(taskName(store.salt, task), message, { admitted: true });
  } catch (thrown) {
    const isOver = thrown instanceof TuttiError && (thrown.code === "conflict" || thrown.code === "not_found");
    if (!isOver) throw thrown;
  }
}
