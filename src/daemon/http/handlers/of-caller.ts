// Says whom something belongs to that outlasts a request, and whether a program asks for it.

import type { OfCaller } from "../../../client/client.ts";
import type { Keys } from "../../state/api-keys.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { type Caller, programOf } from "../authorize.ts";

export function ofCaller(keys: Pick<Keys, "callerOf">, caller: Caller): OfCaller {
  return caller.kind === "key" ? { caller: keys.callerOf(caller.id), ...asProgram(caller) } : {};
}

/** To be spread into what starts work. */
export function asProgram(caller: Caller): Pick<OfCaller, "program"> {
  const program = programOf(caller);
  return program === undefined ? {} : { program };
}

/** Throws when a program wants to do what only a person decides. `what` completes "only a person may". */
export function mustBePerson(caller: Caller, what: string): void {
  if (programOf(caller) === undefined) return;
  const message = `only a person may ${what}; use the dashboard, the command line, or a key that was made with --person`;
  throw new TuttiError("refused", message);
}

/** The idempotency key of the caller, or one that is made for a caller who has none. */
export function keyOf(given: string | undefined, made: string | undefined): { readonly key?: string } {
  const key = given ?? made;
  return key === undefined ? {} : { key };
}
