// Worker handles: a short secret that stands for a capability token where copying a long one would go wrong.
import { TuttiError } from "../error.ts";
import { toHex } from "./digest.ts";

const handleBytes = 16;
const pattern = /^wh-[0-9a-f]{32}$/;

/**
 * `wh-` and 128 bits in hex. Whoever keeps a handle keeps its digest and the claims of its token with it, and passes
 * those claims through `checkClaims` on each use, so a handle ends when its token does.
 */
export function newHandle(random: Uint8Array = crypto.getRandomValues(new Uint8Array(handleBytes))): string {
  if (random.length !== handleBytes) {
    throw new TuttiError("invalid_input", `a worker handle takes ${handleBytes} random bytes, not ${random.length}`);
  }
  return `wh-${toHex(random)}`;
}

/** Exactly what `newHandle` writes; any other bearer is a token or nothing. */
export function isHandle(bearer: string): boolean {
  return pattern.test(bearer);
}
