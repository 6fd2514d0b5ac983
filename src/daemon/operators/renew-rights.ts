// Renews the rights of a worker that was heard of: it gets a fresh token, and its handle is valid for as long again.

import type { Clock } from "../../ports.ts";
import { issueToken } from "../../protocol/operator/capability-token.ts";
import type { RenewedRights } from "../../protocol/operator/worker.ts";
import type { ServiceRecords } from "../../store/service-records.ts";
import type { AuthorizedWorker } from "./authorize-worker.ts";
import type { SigningKey } from "./signing-key.ts";

export interface RenewContext {
  readonly records: Pick<ServiceRecords, "putHandle">;
  readonly clock: Clock;
  readonly signingKey: SigningKey;
}

/** Tokens that the worker had before stay valid until their own expiry. */
export async function renewRights(
  { records, clock, signingKey }: RenewContext,
  { claims, handle, lives }: AuthorizedWorker,
): Promise<RenewedRights> {
  const fresh = await issueToken(claims, signingKey.tokens, { now: clock.now(), life: lives.tokenMs });
  const { expires_at } = fresh.claims;
  if (handle !== undefined) records.putHandle({ digest: handle, claims: JSON.stringify(fresh.claims), expires_at });
  return { capability_token: fresh.token, expires_at };
}
