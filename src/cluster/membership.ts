// Keeps this node among the living: renews its lease, buries nodes whose lease ended, and takes over trees that nobody owns.

import type pg from "pg";

import type { TuttiError } from "../protocol/error.ts";
import {
  ask,
  connectTo,
  type DatabaseAddress,
  endConnection,
  type Row,
} from "../store/postgres/database-connection.ts";
import { fencedError, storageError } from "../store/postgres/storage-error.ts";
import { elapsedMs } from "./elapsed-clock.ts";
import type { NodeLabels } from "./node-labels.ts";

export interface MembershipOptions {
  readonly address: DatabaseAddress;
  readonly incarnation: number;
  readonly leaseMs: number;
  /** What this node has that trees can ask for. */
  readonly labels: Pick<NodeLabels, "tell">;
  /** Goes on with trees that this node has taken over. Resolves when requests about them can be answered here. */
  readonly takeUp: (roots: readonly number[]) => Promise<void>;
  /** Called after what this node has was told. */
  readonly onTold?: () => void;
  /** Gives up trees that another node has room for, as far as nothing of them is under way. */
  readonly giveUp?: (roots: readonly number[]) => Promise<void>;
  /** The database says that the node is dead: it must do nothing more. Called once. */
  readonly onLost: (error: TuttiError) => void;
  /** False while the node renews its lease but takes no trees yet; true when absent. */
  readonly takesTrees?: () => boolean;
  /** What went wrong without ending anything; the next beat tries again. */
  readonly onProblem?: (error: TuttiError) => void;
  /**
   * Told after every renewal until when nobody can take the trees of this node, as a time of `elapsedMs`. Processes that
   * the node started must not outlast it. It is counted from before the renewal was sent, and by the database from when
   * it arrived, so it ends early, whatever the clocks of the machines say and whenever this is called.
   */
  readonly onRenewed?: (until: number) => void;
}

/** A lease is renewed so often in its time. */
const beatsInLease = 5;
/** Trees that are given up at a time, so that they do not all wait to be taken up at once. */
const givenUpAtOnce = 16;
/** Trees that are taken over at a time, so that the node renews its lease in between. */
const treesAtOnce = 64;

/**
 * A node that cannot reach the database keeps its trees and tries on: it can commit nothing, so nothing that may not be
 * repeated begins, and whether it still lives is for the database to say.
 */
export class Membership {
  readonly #options: MembershipOptions;
  #client: pg.Client | undefined;
  #beating: Promise<void> | undefined;
  #takingUp: Promise<void> = Promise.resolve();
  #givingUp: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #extra: NodeJS.Timeout | undefined;
  #ended = false;
  /** The last beat took trees, and may have left some that this node can take. */
  #mayBeMore = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** Resolves after the first beat. */
  async start(): Promise<void> {
    const { leaseMs } = this.#options;
    this.#timer = setInterval(() => void this.beat(), leaseMs / beatsInLease);
    await this.beat();
  }

  /** Renews, buries and takes over, once. Never rejects. */
  beat(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      if (this.#mayBeMore) setImmediate(() => void this.beat());
      this.#mayBeMore = false;
    });
    return this.#beating;
  }

  /** Resolves when the trees that were taken over so far are taken up. */
  takenUp(): Promise<void> {
    return this.#takingUp;
  }

  /** The trees go to whoever is there, at once. Nothing of this node may run any more. */
  async leave(): Promise<void> {
    this.#end();
    await this.#beating;
    const { incarnation } = this.#options;
    try {
      await ask(await this.#connected(), "SELECT leave_cluster($1)", [incarnation], { timeoutMs: 2_000 });
    } catch (thrown) {
      // The lease ends by itself.
      this.#options.onProblem?.(storageError(thrown));
    } finally {
      await this.#disconnect();
    }
  }

  /** Stops renewing without saying so, as after the node was fenced. */
  async close(): Promise<void> {
    this.#end();
    // A beat that waits for the database is cut off; one that was connecting has a connection when it ends.
    await this.#disconnect();
    await this.#beating;
    await this.#disconnect();
  }

  async #beat(): Promise<void> {
    const { incarnation, leaseMs, onProblem, onRenewed } = this.#options;
    const before = elapsedMs();
    try {
      const client = await this.#connected();
      const limits = { timeoutMs: leaseMs / 2 };
      const [renewed] = await ask(client, "SELECT renew_lease($1, $2) AS alive", [incarnation, leaseMs], limits);
      if (this.#ended) return;
      if (renewed?.["alive"] !== 1) return this.#lose(fencedError());
      onRenewed?.(before + leaseMs);
      await ask(client, "SELECT bury_nodes()", [], limits);
      const [next] = await ask(client, "SELECT next_lease_end($1) AS ms", [incarnation], limits);
      this.#lookAt(next?.["ms"]);
      if (this.#options.takesTrees?.() === false) return;
      const query = (sql: string, values?: readonly unknown[]): Promise<Row[]> => ask(client, sql, values, limits);
      await this.#options.labels.tell(query, incarnation);
      this.#options.onTold?.();
      await this.#take(client, limits);
      await this.#share(client, limits);
    } catch (thrown) {
      await this.#disconnect();
      if (!this.#ended) onProblem?.(storageError(thrown));
    }
  }

  /** When the lease of another node ends before the next beat, there is one then, so that its trees do not wait longer. */
  #lookAt(endsInMs: unknown): void {
    clearTimeout(this.#extra);
    if (this.#ended || typeof endsInMs !== "number" || endsInMs < 0) return;
    if (endsInMs < this.#options.leaseMs / beatsInLease) {
      this.#extra = setTimeout(() => void this.beat(), endsInMs + 1).unref();
    }
  }

  /** Trees are taken up one group after the other; renewing goes on meanwhile. */
  async #take(client: pg.Client, limits: { readonly timeoutMs: number }): Promise<void> {
    const { incarnation, takeUp, onProblem } = this.#options;
    const rows = await ask(client, "SELECT root FROM take_trees($1, $2)", [incarnation, treesAtOnce], limits);
    if (rows.length === 0 || this.#ended) return;
    const roots = rows.map((row) => Number(row["root"]));
    this.#takingUp = this.#takingUp
      .then(() => takeUp(roots))
      .catch((thrown: unknown) => onProblem?.(storageError(thrown)));
    // A group is bounded, and beyond its share a node takes one tree at a time.
    this.#mayBeMore = true;
  }

  /** A node that has just joined gets its share. */
  async #share(client: pg.Client, limits: { readonly timeoutMs: number }): Promise<void> {
    const { incarnation, giveUp, onProblem } = this.#options;
    if (giveUp === undefined || this.#givingUp !== undefined || this.#ended) return;
    const rows = await ask(client, "SELECT root FROM spare_trees($1, $2)", [incarnation, givenUpAtOnce], limits);
    if (rows.length === 0 || this.#ended) return;
    this.#givingUp = giveUp(rows.map((row) => Number(row["root"])))
      .catch((thrown: unknown) => onProblem?.(storageError(thrown)))
      .finally(() => (this.#givingUp = undefined));
  }

  #lose(error: TuttiError): void {
    if (this.#ended) return;
    this.#end();
    this.#options.onLost(error);
  }

  #end(): void {
    this.#ended = true;
    clearInterval(this.#timer);
    clearTimeout(this.#extra);
  }

  async #connected(): Promise<pg.Client> {
    return (this.#client ??= await connectTo(this.#options.address));
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await endConnection(client);
  }
}
