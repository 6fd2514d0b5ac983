// A hash of a request from its beginning. Anthropic accepts a thinking block only after exactly what stood before it.

import { createHash } from "node:crypto";

export interface RequestPrefix {
  /** Adds the next message as it is sent. */
  add(message: unknown): void;
  /** The hash of everything added so far. */
  digest(): string;
}

/** `head` is what comes before the messages: the system prompt and the tools. */
export function requestPrefix(head: unknown): RequestPrefix {
  const hash = createHash("sha256").update(JSON.stringify(head));
  return {
    add: (message) => void hash.update(JSON.stringify(message)),
    digest: () => hash.copy().digest("base64url"),
  };
}
