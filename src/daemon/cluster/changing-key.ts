// The key of the cluster as a running node has it: people may give the cluster another one while the node works.

import type { Secret } from "../../core/redaction/secret-matcher.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { ClusterKey } from "./cluster-key.ts";
import type { FoundKey } from "./find-cluster-key.ts";

/** Nodes hear of a change one after the other. Until so long after it, this node still signs with the key before. */
const signsAsBeforeMs = 2_000;
/** And so long it accepts what others signed with that. */
const acceptsBeforeMs = 10_000;

export class ChangingKey implements ClusterKey {
  #now: ClusterKey;
  #before: ClusterKey | undefined;
  #changedAt = -Infinity;
  #lost: TuttiError | undefined;
  readonly #texts: string[] = [];

  constructor(key: ClusterKey) {
    this.#now = key;
  }

  get check(): string {
    return this.#now.check;
  }

  /** The keys that came while the node worked, to be redacted everywhere. */
  get secrets(): readonly Secret[] {
    return this.#texts.map((value) => ({ name: "cluster key", value }));
  }

  seal(name: string, text: string): string {
    return this.#usable().seal(name, text);
  }

  unseal(name: string, sealed: string): string {
    return this.#usable().unseal(name, sealed);
  }

  mac(text: string): Buffer {
    return (this.#beforeWithin(signsAsBeforeMs) ?? this.#now).mac(text);
  }

  accepted(text: string): readonly Buffer[] {
    const before = this.#beforeWithin(acceptsBeforeMs);
    return [this.#now, ...(before === undefined ? [] : [before])].flatMap((key) => key.accepted(text));
  }

  replace({ key, text }: FoundKey): void {
    this.#before = this.#now;
    this.#now = key;
    this.#changedAt = performance.now();
    this.#lost = undefined;
    this.#texts.push(text);
  }

  /** The cluster has another key, which is not here. From now on whoever needs the key is told why there is none. */
  lose(error: TuttiError): void {
    this.#lost = error;
  }

  #usable(): ClusterKey {
    if (this.#lost !== undefined) throw this.#lost;
    return this.#now;
  }

  #beforeWithin(ms: number): ClusterKey | undefined {
    return performance.now() - this.#changedAt < ms ? this.#before : undefined;
  }
}
