// Writes a policy as TOON, in the names and the order a person reads it.

import { encode } from "@toon-format/toon";
import type { Policy } from "./policy.ts";

/** `readPolicy` gives the same policy back. */
export function encodePolicy(policy: Policy): string {
  return `${encode(policy)}\n`;
}
