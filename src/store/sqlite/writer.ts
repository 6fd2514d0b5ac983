// The write queue: everything written in one tick of the event loop goes to disk in one commit, in the order it was queued.
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

import type { TuttiError } from "../../protocol/error.ts";
import { storageError } from "./storage-error.ts";
import { type WriteName, writes } from "./writes.ts";

/**
 * A batch is committed whole or not at all. After a failed commit nothing more is accepted: what later code believes was
 * written rests on the batch that was lost, so the process has to stop and recover from what is on disk.
 */
export class Writer {
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
    this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** Resolves when everything queued so far is on disk. */
  committed(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#names.length === 0) return Promise.resolve();
    this.#waiting ??= Promise.withResolvers<void>();
    return this.#waiting.promise;
  }

  /** Calls `listener` after every commit, and once when writing failed for good. */
  onCommit(listener: () => void): () => void {
    this.#afterCommit.add(listener);
    return () => this.#afterCommit.delete(listener);
  }

  flush(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#names.length === 0) return;
    const [names, values, waiting] = [this.#names, this.#values, this.#waiting];
    [this.#names, this.#values, this.#waiting] = [[], [], undefined];
    try {
      this.#begin.run();
      // `get` runs a write as well as `run` does, and makes no object of counts for every row.
      for (let index = 0; index < names.length; index += 1) {
        this.#statements.get(names[index] ?? "")?.get(...(values[index] ?? []));
      }
      this.#commit.run();
    } catch (thrown) {
      this.#fail(thrown, waiting);
      return;
    }
    this.#batch += 1;
    waiting?.resolve();
    for (const listener of this.#afterCommit) listener();
  }

  #fail(thrown: unknown, waiting: PromiseWithResolvers<void> | undefined): void {
    try {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    } catch {
      // The first failure is the one to tell; SQLite rolls back by itself when the connection closes.
    }
    const failure = storageError(this.#path, thrown);
    this.#failure = failure;
    waiting?.reject(failure);
    for (const listener of this.#afterCommit) listener();
  }
}
