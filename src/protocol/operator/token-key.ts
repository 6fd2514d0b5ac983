// Keys that sign capability tokens: stored as random bytes, used as keys that cannot be exported.
import { TuttiError } from "../error.ts";

const minKeyBytes = 32;
const algorithm = { name: "HMAC", hash: "SHA-256" } as const;

export type TokenKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Raw bytes, to be kept where nobody else can read them. */
export function generateKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(minKeyBytes));
}

export async function importKey(raw: Uint8Array<ArrayBuffer>): Promise<TokenKey> {
  if (raw.length < minKeyBytes) {
    const message = `a signing key needs at least ${minKeyBytes} bytes and this one has ${raw.length}; generate a new one`;
    throw new TuttiError("invalid_input", message);
  }
  return crypto.subtle.importKey("raw", raw, algorithm, false, ["sign", "verify"]);
}
