// Worker handles: short secrets that stand for capability tokens, because models make mistakes when they copy long ones.
import { TuttiError } from "../error.ts";
import { toHex } from "./digest.ts";

const handleBytes = 16;
const pattern = /^wh-[0-9a-f]{32}$/;

/**
 * `wh-` and 128 bits in hex. The service stores the digest of a handle with the claims of its token, and checks those
 * claims with `checkClaims` on each use, so a handle expires with its token.
 */
export function newHandle(random: Uint8Array = crypto.getRandomValues(new Uint8Array(handleBytes))): string {
  if (random.length !== handleBytes) {
    throw new TuttiError("invalid_input", `a worker handle takes ${handleBytes} random bytes, not ${random.length}`);
  }
  return `wh-${toHex(random)}`;
}

/** True for the form that `newHandle` writes; any other bearer can only be a token. */
export function isHandle(bearer: string): boolean {
  return pattern.test(bearer);
}
