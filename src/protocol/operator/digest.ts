// Digests of bearer secrets: they are stored in place of the secrets and compared in constant time.

/** SHA-256 as 64 lower-case hex digits. */
export async function digestSecret(secret: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret))));
}

/** Both must be digests, so that neither their length nor the time taken reveals anything about the secrets. */
export function sameDigest(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < left.length; at += 1) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
