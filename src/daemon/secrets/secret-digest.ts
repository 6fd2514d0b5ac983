// The digest under which a secret is stored: whoever reads the database cannot use it.

import { hash } from "node:crypto";

/**
 * SHA-256 in hex. Secrets are looked up by this digest: how long that takes says nothing about the secret, because nobody
 * can choose a secret by its digest.
 */
export function secretDigest(secret: string): string {
  return hash("sha256", secret);
}
