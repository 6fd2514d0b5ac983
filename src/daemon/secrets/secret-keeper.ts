// The secrets this process knows of, which grow with the projects it works for, and what takes them out of texts.

import { type RedactStream, redactStream } from "../../core/redact-stream.ts";
import { type Redactor, redactor } from "../../core/redact.ts";
import type { Secret } from "../../core/secret-matcher.ts";

export class SecretKeeper {
  readonly #known = new Map<string, Secret>();
  #redact: Redactor = redactor([]);
  #stream: RedactStream = redactStream(this.#redact);

  /** From now on they are taken out; what streams hold back starts anew. */
  add(secrets: Iterable<Secret>): void {
    const before = this.#known.size;
    for (const secret of secrets) if (!this.#known.has(secret.value)) this.#known.set(secret.value, secret);
    if (this.#known.size === before) return;
    this.#redact = redactor(this.#known.values());
    this.#stream = redactStream(this.#redact);
  }

  redact(text: string): string {
    return this.#redact(text);
  }

  /** For text that arrives in pieces. */
  get stream(): RedactStream {
    return this.#stream;
  }
}
