// One node of a cluster: it joins, runs the trees that it owns, takes over those of dead nodes, and joins anew when it was declared dead.

import { randomUUID } from "node:crypto";

import type { Engine } from "../engine/engine.ts";
import { type TuttiError, toTuttiError } from "../protocol/error.ts";
import type { DatabaseAddress } from "../store/postgres/database-connection.ts";
import {
  joinDatabase,
  type NodeIdentity,
  type NodeStore,
  openPostgresStore,
} from "../store/postgres/postgres-store.ts";
import { ClusterTasks } from "./cluster-tasks.ts";
import { NodeLabels, type NodeRunners } from "./node-labels.ts";
import { beginLife, endLife, type Life, type LifeOptions } from "./node-life.ts";

export interface ClusterNodeOptions {
  readonly address: DatabaseAddress;
  readonly identity: NodeIdentity;
  /** Holds a copy of the trees this node owns, and nothing else; it is made anew at every start. */
  readonly cacheFolder: string;
  /** The names of projects by their folder here. */
  readonly projects?: ReadonlyMap<string, string> | undefined;
  /** The engine over the store; called again whenever the node joins anew. */
  readonly engine: (store: NodeStore) => Engine;
  /** The node was declared dead. Its loops have ended, and it joins anew. */
  readonly onFenced?: (error: TuttiError) => void;
  /** A tree that could not be taken up; it stays as it is in the database. */
  readonly onLeft?: (root: number, error: TuttiError) => void;
  readonly onProblem?: (error: TuttiError) => void;
  /** Until when nobody can take the trees of this node, as a time of `elapsedMs`. */
  readonly onRenewed?: (until: number) => void;
}

const rejoinMs = 250;

export class ClusterNode {
  /** What can be asked of any tree, from this node. */
  readonly tasks = new ClusterTasks(() => this.#life);
  readonly #options: ClusterNodeOptions;
  #life: Life;
  #rejoining: Promise<void> | undefined;
  /** The life that has just begun was lost before the node was there again. */
  #lostAgain: TuttiError | undefined;
  #closed = false;

  private constructor(options: ClusterNodeOptions, life: Life) {
    this.#options = options;
    this.#life = life;
    this.#watch(life);
  }

  static async open(given: ClusterNodeOptions): Promise<ClusterNode> {
    // Nothing of its last life is left when it joins anew.
    const options = { ...given, identity: { machine: randomUUID(), ...given.identity } };
    let own: ClusterNode | undefined;
    const comesBack = (): boolean => own !== undefined && !own.#closed;
    const life = await begin(options, { onLost: (error) => own?.lose(error), comesBack });
    own = new ClusterNode(options, life);
    await life.membership.start();
    return own;
  }

  /** Of the present life: after the node was fenced there is another one. */
  get engine(): Engine {
    return this.#life.engine;
  }

  get node(): NodeStore {
    return this.#life.node;
  }

  /** Renews and takes over now, and resolves when what was taken over is taken up. */
  async beat(): Promise<void> {
    const { membership } = this.#life;
    await membership.beat();
    await membership.takenUp();
  }

  /** Resolves when the node has joined anew after it was declared dead; at once when it was not. */
  async rejoined(): Promise<void> {
    await this.#rejoining;
  }

  /** Lets steps under way finish within `graceMs`, and hands the trees to the other nodes at once. */
  async close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closed = true;
    await this.#rejoining;
    const { engine, membership, node } = this.#life;
    try {
      await (graceMs > 0 ? engine.drain(graceMs) : engine.stop());
    } finally {
      await membership.leave();
      await node.close();
    }
  }

  /** The node is dead for the others: nothing of it may go on. It joins anew with an empty memory. */
  lose(error: TuttiError): void {
    if (this.#closed) return;
    if (this.#rejoining !== undefined) {
      this.#lostAgain = error;
      return;
    }
    this.#options.onFenced?.(error);
    // Not at once: ending the life tells its listeners, who lose it a second time, and only one may join anew.
    const rejoining = Promise.resolve().then(() => this.#rejoin(error));
    this.#rejoining = rejoining.finally(() => (this.#rejoining = undefined));
  }

  #watch({ node }: Life): void {
    node.store.onCommit(() => {
      const { failure } = node.store;
      if (failure !== undefined && this.#life.node === node) this.lose(failure);
    });
  }

  async #rejoin(error: TuttiError): Promise<void> {
    const { onProblem } = this.#options;
    await endLife(this.#life, error);
    while (!this.#closed) {
      this.#lostAgain = undefined;
      try {
        const onLost = (again: TuttiError): void => this.lose(again);
        const life = await begin(this.#options, { onLost, comesBack: () => !this.#closed });
        this.#life = life;
        this.#watch(life);
        await life.membership.start();
        if (this.#lostAgain === undefined) return;
        await endLife(life, this.#lostAgain);
      } catch (thrown) {
        onProblem?.(toTuttiError(thrown));
        await new Promise((resolve) => setTimeout(resolve, rejoinMs));
      }
    }
  }
}

async function begin(options: ClusterNodeOptions, own: Pick<LifeOptions, "onLost" | "comesBack">): Promise<Life> {
  const { address, identity, cacheFolder, onLeft, onProblem, onRenewed } = options;
  const node = openPostgresStore(address, await joinDatabase(address, identity), cacheFolder);
  const { leaseMs } = identity;
  const engine = options.engine(node);
  const runners: NodeRunners = {
    all: async () => [],
    isBuiltIn: (kind) => engine.runners.kinds.includes(kind),
    has: async () => false,
    isCommon: () => true,
  };
  const labels = new NodeLabels(identity.labels, { projects: options.projects, runners });
  return beginLife(node, engine, { address, leaseMs, labels, onLeft, onProblem, onRenewed, ...own });
}
