// The write queue: everything written in one tick of the event loop goes to disk in one commit, in the order it was queued.
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

import type { TuttiError } from "../../protocol/error.ts";
import { isDiskFull, stalledError, storageError } from "./storage-error.ts";
import { type WriteName, writes } from "./writes.ts";

/** How often a batch is tried again that did not fit on the disk. */
const retryMs = 1_000;
/** While the disk is full, at most about so much may be queued. New work is refused then, so only running steps add to it. */
const maxStalledBytes = 256 * 1024 * 1024;

/** Where the store puts what it writes; each kind of store commits it in its own way. */
export interface WriteQueue {
  readonly failure: TuttiError | undefined;
  readonly stalled: TuttiError | undefined;
  readonly batch: number;
  isDurable(batch: number): boolean;
  push(name: WriteName, values: SQLInputValue[]): void;
  committed(): Promise<void>;
  onCommit(listener: () => void): () => void;
  giveUpStalled(): void;
}

/**
 * A batch is committed whole or not at all.
 *
 * If the disk is full, the batch was rolled back and nobody was told that it is on disk. So the writer keeps it, is
 * `stalled`, and tries the same batch again until there is room. What is queued meanwhile joins the batch.
 *
 * After any other failed commit nothing more is accepted. After a failed fsync nobody knows what is on disk, and later
 * code already relies on the batch, so the process has to stop and recover from the disk.
 */
export class Writer implements WriteQueue {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #statements: ReadonlyMap<string, StatementSync>;
  readonly #afterCommit = new Set<() => void>();
  #names: WriteName[] = [];
  #values: SQLInputValue[][] = [];
  /** The number of the batch that is being queued; all before it are on disk. */
  #batch = 1;
  /** One for everybody who waits for the batch that is being queued. */
  #waiting: PromiseWithResolvers<void> | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #retry: NodeJS.Timeout | undefined;
  #stalled: TuttiError | undefined;
  /** About how many bytes were queued since the writer stalled. */
  #stalledBytes = 0;
  #failure: TuttiError | undefined;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#statements = new Map(Object.entries(writes).map(([name, sql]) => [name, database.prepare(sql)]));
  }

  get failure(): TuttiError | undefined {
    return this.#failure;
  }

  get stalled(): TuttiError | undefined {
    return this.#stalled;
  }

  get batch(): number {
    return this.#batch;
  }

  isDurable(batch: number): boolean {
    return batch < this.#batch;
  }

  push(name: WriteName, values: SQLInputValue[]): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#names.push(name);
    this.#values.push(values);
    if (this.#stalled === undefined) this.#scheduled ??= setImmediate(() => this.flush());
    else this.#countStalled(values);
  }

  /** Resolves when everything queued so far is on disk. */
  committed(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#names.length === 0) return Promise.resolve();
    this.#waiting ??= Promise.withResolvers<void>();
    return this.#waiting.promise;
  }

  /** Calls `listener` after every commit, when the writer stalls, and once when writing failed for good. */
  onCommit(listener: () => void): () => void {
    this.#afterCommit.add(listener);
    return () => this.#afterCommit.delete(listener);
  }

  flush(): void {
    clearImmediate(this.#scheduled);
    clearTimeout(this.#retry);
    [this.#scheduled, this.#retry] = [undefined, undefined];
    const [names, values] = [this.#names, this.#values];
    if (names.length === 0) return;
    try {
      this.#begin.run();
      // `get` runs a write as well as `run` does, and makes no object of counts for every row.
      for (let index = 0; index < names.length; index += 1) {
        this.#statements.get(names[index] ?? "")?.get(...(values[index] ?? []));
      }
      this.#commit.run();
    } catch (thrown) {
      this.#rollBack();
      if (isDiskFull(thrown)) this.#stall(thrown);
      else this.#fail(storageError(this.#path, thrown));
      return;
    }
    const waiting = this.#waiting;
    [this.#names, this.#values, this.#waiting] = [[], [], undefined];
    this.#stalled = undefined;
    this.#batch += 1;
    waiting?.resolve();
    for (const listener of this.#afterCommit) listener();
  }

  /** If the writer is stalled, it tries once more and then fails for good, so that nobody waits any longer. */
  giveUpStalled(): void {
    if (this.#stalled !== undefined) this.flush();
    if (this.#stalled !== undefined) this.#fail(this.#stalled);
  }

  #stall(thrown: unknown): void {
    const first = this.#stalled === undefined;
    this.#stalled ??= stalledError(this.#path, thrown);
    if (first) this.#stalledBytes = 0;
    // The timer keeps the process alive: somebody may wait for the commit.
    this.#retry = setTimeout(() => this.flush(), retryMs);
    if (first) for (const listener of this.#afterCommit) listener();
  }

  #countStalled(values: readonly SQLInputValue[]): void {
    this.#stalledBytes += 100;
    for (const value of values) if (typeof value === "string") this.#stalledBytes += value.length;
    // Not at once: whoever queues rows that belong together must not be stopped in the middle of them.
    if (this.#stalledBytes > maxStalledBytes) this.#scheduled ??= setImmediate(() => this.giveUpStalled());
  }

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    } catch {
      // The first failure is the one to tell; SQLite rolls back by itself when the connection closes.
    }
  }

  #fail(failure: TuttiError): void {
    clearTimeout(this.#retry);
    const waiting = this.#waiting;
    [this.#names, this.#values, this.#waiting] = [[], [], undefined];
    this.#stalled = undefined;
    this.#failure = failure;
    waiting?.reject(failure);
    for (const listener of this.#afterCommit) listener();
  }
}
