// Reads how long the rights to an attempt live. The offer of the attempt says so.

import { type AttemptLives, defaultLives } from "../../protocol/operator/lease.ts";
import { livesOf } from "../../protocol/operator/operator-request.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import type { Store } from "../../store/store.ts";
import { requestDetails } from "./request-details.ts";

export function attemptLives(store: Pick<Store, "waitAt">, task: number, attempt: number): AttemptLives {
  const row = store.waitAt(task, attempt, operatorKeys.spawn);
  const details = row === undefined ? undefined : requestDetails(row);
  return details?.kind === "spawn" ? livesOf(details) : defaultLives;
}
