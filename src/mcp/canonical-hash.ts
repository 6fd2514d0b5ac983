// The text and the hash of settings, neither of which depends on the order of their fields.

import { createHash } from "node:crypto";

export function canonicalHash(value: unknown): string {
  return createHash("sha256").update(canonicalText(value)).digest("hex");
}

/** With keys in one order, because the same settings written in another order are the same. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
