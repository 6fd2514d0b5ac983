// The secrets this process knows, and how they are removed from texts. Projects that are opened later add theirs.

import { type RedactStream, redactStream } from "../../core/redaction/redact-stream.ts";
import { type Redactor, redactor } from "../../core/redaction/redact.ts";
import type { Secret } from "../../core/redaction/secret-matcher.ts";

export class SecretKeeper {
  readonly #known = new Map<string, Secret>();
  #redact: Redactor = redactor([]);
  readonly #stream: RedactStream = redactStream(this.#redact);

  /** They are removed from now on, also from text that a stream holds back at this moment. */
  add(secrets: Iterable<Secret>): void {
    const before = this.#known.size;
    for (const secret of secrets) if (!this.#known.has(secret.value)) this.#known.set(secret.value, secret);
    if (this.#known.size === before) return;
    this.#redact = redactor(this.#known.values());
    this.#stream.use(this.#redact);
  }

  redact(text: string): string {
    return this.#redact(text);
  }

  /** For text that arrives in pieces, so that a secret may be split over two of them. */
  get stream(): RedactStream {
    return this.#stream;
  }
}
