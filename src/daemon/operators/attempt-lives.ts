// Reads how long the rights to an attempt live. The offer of the attempt says so.

import { type AttemptLives, defaultLives } from "../../protocol/operator/lease.ts";
import { livesOf } from "../../protocol/operator/operator-request.ts";
import type { WaitRow } from "../../store/store.ts";
import { requestDetails } from "./request-details.ts";

/** `offer`: the wait under which the attempt was offered. */
export function attemptLives(offer: WaitRow | undefined): AttemptLives {
  const details = offer === undefined ? undefined : requestDetails(offer);
  return details?.kind === "spawn" ? livesOf(details) : defaultLives;
}
