// The write queue of one node: everything written in one tick is one fenced commit; while one is on its way, the next one grows.

import type { SQLInputValue } from "node:sqlite";

import type pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import type { WriteQueue } from "../sqlite/writer.ts";
import { type NodeWrite, rowsOf, type Write } from "./batch-rows.ts";
import { commitFew } from "./commit-few.ts";
import { commitCall } from "./commit-sql.ts";
import { ask, endConnection } from "./database-connection.ts";
import { type SharedChange, sharedSince } from "./shared-rows.ts";
import { awayError, isLostConnection, storageError } from "./storage-error.ts";
import type { TreeCache } from "./tree-cache.ts";

/** A commit without an answer for so long is sent again on another connection. */
const answerMs = 5_000;
const reconnectMs = 100;
/** While the database is away, at most about so much may be queued. New work is refused then, so only running steps add to it. */
const maxAwayBytes = 256 * 1024 * 1024;

interface Batch {
  readonly number: number;
  readonly writes: Write[];
  readonly closed: Set<number>;
  /** One for everybody who waits for this batch; made when somebody does. */
  waiting: PromiseWithResolvers<void> | undefined;
}

export interface WriterOptions {
  readonly incarnation: number;
  readonly cache: TreeCache;
  /** The version of the shared rows that are in the cache. */
  readonly version: number;
  readonly connect: () => Promise<pg.Client>;
  /** The root of the tree that this write ends; undefined for any other write. */
  readonly closes: (write: Write) => number | undefined;
  /** Told of shared rows that changed, by this node or another one, once they are in the cache. Must not throw. */
  readonly onShared: (changes: readonly SharedChange[]) => void;
  /** Told of the trees that are over, when that is durable. */
  readonly onClosed: (roots: Iterable<number>) => void;
}

/**
 * A batch is committed whole or not at all. Its number makes the commit idempotent: when the answer was lost, the same batch
 * is sent again under the same number and taken once. A node that was declared dead is refused by the database and accepts
 * nothing more. While the database is away, the writer is `stalled` and keeps what is queued.
 */
export class BatchWriter implements WriteQueue {
  readonly #options: WriterOptions;
  readonly #afterCommit = new Set<() => void>();
  #queued: Batch = newBatch(1);
  #onWay: Batch | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #client: pg.Client | undefined;
  #stalled: TuttiError | undefined;
  #awayBytes = 0;
  #failure: TuttiError | undefined;
  #version: number;
  #catchingUp: Promise<void> = Promise.resolve();
  #nextCatchUp: Promise<void> | undefined;
  #closing = false;
  /** How often a batch was sent again because its answer was lost. */
  resent = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#version = options.version;
  }

  get failure(): TuttiError | undefined {
    return this.#failure;
  }

  get stalled(): TuttiError | undefined {
    return this.#stalled;
  }

  get batch(): number {
    return this.#queued.number;
  }

  /** Of the last shared change that this node has seen. */
  get version(): number {
    return this.#version;
  }

  isDurable(batch: number): boolean {
    return batch < (this.#onWay ?? this.#queued).number;
  }

  /** How much is queued for the next commit. */
  get queuedWrites(): number {
    return this.#queued.writes.length;
  }

  push(name: NodeWrite, values: SQLInputValue[]): void {
    if (this.#failure !== undefined) throw this.#failure;
    const write = { name, values };
    this.#queued.writes.push(write);
    const root = name === "addResult" ? this.#options.closes(write) : undefined;
    if (root !== undefined) this.#queued.closed.add(root);
    if (this.#stalled !== undefined) this.#countAway(values);
    if (this.#onWay === undefined) this.#scheduled ??= setImmediate(() => this.#send());
  }

  committed(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const batch = this.#queued.writes.length > 0 ? this.#queued : this.#onWay;
    if (batch === undefined) return Promise.resolve();
    batch.waiting ??= Promise.withResolvers<void>();
    return batch.waiting.promise;
  }

  onCommit(listener: () => void): () => void {
    this.#afterCommit.add(listener);
    return () => this.#afterCommit.delete(listener);
  }

  giveUpStalled(): void {
    if (this.#stalled !== undefined) this.fail(this.#stalled);
  }

  /** Brings in what other nodes changed of the shared rows. */
  catchUp(): Promise<void> {
    // One that has not begun yet brings in everything that was committed until now.
    this.#nextCatchUp ??= this.#catchingUp
      .catch(() => undefined)
      .then(() => {
        this.#nextCatchUp = undefined;
        return this.#followShared([]);
      });
    this.#catchingUp = this.#nextCatchUp;
    return this.#nextCatchUp;
  }

  /** Nothing more is accepted. Whoever waits for a commit is told why. */
  fail(failure: TuttiError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#stalled = undefined;
    clearImmediate(this.#scheduled);
    this.#client?.end().catch(() => undefined);
    for (const batch of [this.#onWay, this.#queued]) batch?.waiting?.reject(failure);
    for (const listener of this.#afterCommit) listener();
  }

  async close(): Promise<void> {
    this.#closing = true;
    const client = this.#client;
    this.#client = undefined;
    await endConnection(client);
  }

  #send(): void {
    this.#scheduled = undefined;
    if (this.#onWay !== undefined || this.#queued.writes.length === 0 || this.#failure !== undefined) return;
    const batch = (this.#onWay = this.#queued);
    this.#queued = newBatch(batch.number + 1);
    this.#commit(batch).then(
      () => this.#done(batch),
      (thrown: unknown) => this.fail(storageError(thrown)),
    );
  }

  async #commit(batch: Batch): Promise<void> {
    const { incarnation } = this.#options;
    const rows = rowsOf(batch.writes, batch.closed);
    const { name, text, values } =
      commitFew(incarnation, batch.number, rows) ?? commitCall(incarnation, batch.number, rows);
    const version = await this.#insisting(async (client) => {
      const [row] = await ask(client, text, values, { name, timeoutMs: answerMs });
      return Number(row?.["version"] ?? 0);
    });
    // Behind a change that another commit brought: both are in order.
    const shared = version > this.#version ? this.#followShared(batch.writes) : undefined;
    if (shared === undefined) this.#options.cache.apply(batch.writes, []);
    else await shared;
  }

  async #followShared(writes: readonly Write[]): Promise<void> {
    const { version, changes } = await this.#insisting((client) => sharedSince(client, this.#version));
    const isNew = version > this.#version;
    this.#options.cache.apply(writes, isNew ? changes : []);
    if (!isNew) return;
    this.#version = version;
    this.#options.onShared(changes);
  }

  /** Tries until the database answers; every call made here may be made twice. */
  async #insisting<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#closing) throw new TuttiError("stopped", "the store is closed");
      try {
        const client = await this.#connected();
        const result = await work(client);
        this.#stalled = undefined;
        return result;
      } catch (thrown) {
        if (this.#failure !== undefined) throw this.#failure;
        if (!isLostConnection(thrown)) throw thrown;
        this.#lose(thrown);
        await new Promise((resolve) => setTimeout(resolve, reconnectMs));
      }
    }
  }

  async #connected(): Promise<pg.Client> {
    if (this.#client !== undefined) return this.#client;
    const client = await this.#options.connect();
    // It may have been closed, or another call may have connected, meanwhile.
    if (this.#closing || this.#failure !== undefined || this.#client !== undefined)
      await client.end().catch(() => undefined);
    else this.#client = client;
    return this.#client ?? client;
  }

  #lose(thrown: unknown): void {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) this.resent += 1;
    client?.end().catch(() => undefined);
    if (this.#stalled !== undefined || this.#closing) return;
    this.#stalled = awayError(thrown);
    this.#awayBytes = 0;
    for (const listener of this.#afterCommit) listener();
  }

  #countAway(values: readonly SQLInputValue[]): void {
    this.#awayBytes += 100;
    for (const value of values) if (typeof value === "string") this.#awayBytes += value.length;
    if (this.#awayBytes > maxAwayBytes) setImmediate(() => this.giveUpStalled());
  }

  #done(batch: Batch): void {
    if (this.#failure !== undefined) return;
    this.#onWay = undefined;
    this.#options.onClosed(batch.closed);
    batch.waiting?.resolve();
    if (this.#queued.writes.length > 0) this.#scheduled ??= setImmediate(() => this.#send());
    for (const listener of this.#afterCommit) listener();
  }
}

function newBatch(number: number): Batch {
  return { number, writes: [], closed: new Set(), waiting: undefined };
}
