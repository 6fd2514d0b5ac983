// Says whom something belongs to that outlasts a request: the API key of the caller, or the owner of the state folder.

import type { OfCaller } from "../../../client/client.ts";
import type { Keys } from "../../state/api-keys.ts";
import type { Caller } from "../authorize.ts";

export function ofCaller(keys: Pick<Keys, "callerOf">, caller: Caller): OfCaller {
  return caller.kind === "key" ? { caller: keys.callerOf(caller.id) } : {};
}

/** The idempotency key of the caller, or one that is made for a caller who has none. */
export function keyOf(given: string | undefined, made: string | undefined): { readonly key?: string } {
  const key = given ?? made;
  return key === undefined ? {} : { key };
}
