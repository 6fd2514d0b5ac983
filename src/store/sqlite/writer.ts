// The write queue: everything written in one tick of the event loop goes to disk in one commit, in the order it was queued.
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

import type { TuttiError } from "../../protocol/error.ts";
import { storageError } from "./storage-error.ts";

/**
 * A batch is committed whole or not at all. After a failed commit nothing more is accepted: what later code believes was
 * written rests on the batch that was lost, so the process has to stop and recover from what is on disk.
 */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #afterCommit = new Set<() => void>();
  #statements: StatementSync[] = [];
  #values: SQLInputValue[][] = [];
  /** One for everybody who waits for the batch that is being queued. */
  #batch: PromiseWithResolvers<void> | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #failure: TuttiError | undefined;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
  }

  get failure(): TuttiError | undefined {
    return this.#failure;
  }

  push(statement: StatementSync, values: SQLInputValue[]): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#statements.push(statement);
    this.#values.push(values);
    this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** Resolves when everything queued so far is on disk. */
  committed(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#statements.length === 0) return Promise.resolve();
    this.#batch ??= Promise.withResolvers<void>();
    return this.#batch.promise;
  }

  /** Calls `listener` after every commit, and once when writing failed for good. */
  onCommit(listener: () => void): () => void {
    this.#afterCommit.add(listener);
    return () => this.#afterCommit.delete(listener);
  }

  flush(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#statements.length === 0) return;
    const [statements, values, batch] = [this.#statements, this.#values, this.#batch];
    [this.#statements, this.#values, this.#batch] = [[], [], undefined];
    try {
      this.#begin.run();
      // `get` runs a write as well as `run` does, and makes no object of counts for every row.
      for (let index = 0; index < statements.length; index += 1) statements[index]?.get(...(values[index] ?? []));
      this.#commit.run();
    } catch (thrown) {
      this.#fail(thrown, batch);
      return;
    }
    batch?.resolve();
    for (const listener of this.#afterCommit) listener();
  }

  #fail(thrown: unknown, batch: PromiseWithResolvers<void> | undefined): void {
    try {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    } catch {
      // The first failure is the one to tell; SQLite rolls back by itself when the connection closes.
    }
    const failure = storageError(this.#path, thrown);
    this.#failure = failure;
    batch?.reject(failure);
    for (const listener of this.#afterCommit) listener();
  }
}
