// Records a worker's result. The first one wins; the same one again is accepted, since its poster may have missed the answer.

import { askName } from "../../store/names.ts";
import type { Delivery, Tasks } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { PostedResult } from "../../protocol/operator/operator-request.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import type { Usage } from "../../protocol/task/budget.ts";
import type { WorkerRecorded } from "../../protocol/operator/worker.ts";
import type { AuthorizedWorker } from "./authorize-worker.ts";
import type { SigningKey } from "./signing-key.ts";
import { stableJson } from "./stable-json.ts";
import { refuseWorker, type WorkerReply } from "./worker-reply.ts";
import type { Store } from "../../store/store.ts";

export interface WorkerResultContext {
  readonly store: Store;
  readonly engine: Pick<Tasks, "deliver">;
  readonly signingKey: SigningKey;
}

export async function recordResult(
  { store, engine, signingKey }: WorkerResultContext,
  { claims, rights }: AuthorizedWorker,
  result: { readonly value: unknown; readonly ok: boolean; readonly usage?: Usage | undefined },
): Promise<WorkerReply<WorkerRecorded>> {
  const row = store.waitAt(rights.task, rights.attempt, operatorKeys.result);
  if (row === undefined) return refuseWorker("attempt_over");
  const { ok, usage } = result;
  const value = result.value ?? null;
  const digest = signingKey.mac("result", stableJson({ ok, value }));
  const posted: PostedResult = { value, ok, digest, ...(usage === undefined ? {} : { usage }) };
  const by = { kind: "operator" as const, name: `worker of ${claims.agent ?? claims.task}` };
  return replyTo(await engine.deliver(askName(store.salt, row.id), posted, by), digest);
}

function replyTo(delivery: Delivery, digest: string): WorkerReply<WorkerRecorded> {
  switch (delivery.outcome) {
    case "accepted":
      return { ok: true, value: { recorded: true, already: false } };
    case "late": {
      if (delivery.settled.kind !== "answered") return refuseWorker("attempt_over");
      // The value may have been redacted when it was recorded, so digests of what was posted are compared.
      const first = PostedResult.safeParse(delivery.settled.value).data;
      if (first?.digest !== digest) return refuseWorker("already_posted");
      return { ok: true, value: { recorded: true, already: true } };
    }
    case "unknown":
      return refuseWorker("attempt_over");
    case "invalid":
      throw new TuttiError("internal", `the wait for a worker's result refused it: ${delivery.message}`);
  }
}
