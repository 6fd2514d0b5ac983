// One life of a node, from joining until it leaves or is declared dead: its engine runs the trees that it owns, and takes up others.

import type { Engine } from "../engine/engine.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { taskName } from "../store/names.ts";
import type { DatabaseAddress } from "../store/postgres/database-connection.ts";
import { needOfNewer } from "../store/postgres/schema.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";
import type { NodeLife } from "./cluster-tasks.ts";
import { CommandDesk } from "./command-desk.ts";
import { EndWatch } from "./end-watch.ts";
import { Membership } from "./membership.ts";
import type { NodeLabels } from "./node-labels.ts";
import { freeTree } from "./place-tree.ts";
import { waitingPlacement } from "./place-waiting.ts";
import { insistOnRelease } from "./release-tree.ts";

export interface LifeOptions {
  readonly address: DatabaseAddress;
  readonly leaseMs: number;
  readonly labels: NodeLabels;
  /** Work of the tree is on this machine, such as a workspace. */
  readonly hasWorkOf?: ((root: number) => boolean) | undefined;
  /** A tree that could not be taken up; it stays as it is in the database. */
  readonly onLeft?: ((root: number, error: TuttiError) => void) | undefined;
  readonly onProblem?: ((error: TuttiError) => void) | undefined;
  /** Told after every renewal until when nobody can take the trees of this node, as a time of `elapsedMs`. */
  readonly onRenewed?: ((until: number) => void) | undefined;
  /** The node was declared dead. Called once. */
  readonly onLost: (error: TuttiError) => void;
  /** False while the node only renews its lease and takes no trees yet; true when absent. */
  readonly takesTrees?: () => boolean;
  /** True while the node joins anew after this life, so that requests can wait for that; never when absent. */
  readonly comesBack?: () => boolean;
}

export interface Life extends NodeLife {
  readonly membership: Membership;
}

/** The node has joined already; it renews its lease from `membership.start` on. */
export function beginLife(node: NodeStore, engine: Engine, options: LifeOptions): Life {
  const { address, leaseMs, labels, onLeft, onProblem, onRenewed, onLost, takesTrees } = options;
  /** Roots of trees that were taken over and are in memory. */
  const taken = new Set<number>();
  /** Roots of trees that are being given up: they are in memory, and nothing can be done with them here any more. */
  const leaving = new Set<number>();
  const isHere = (root: number): boolean => (taken.has(root) || node.isMadeHere(root)) && !leaving.has(root);
  const problem = (thrown: unknown): void => onProblem?.(toTuttiError(thrown));
  const desk = new CommandDesk({ node, engine, isHere, onProblem: problem });
  const lookForDue = (): void => {
    const due = node.rows("SELECT DISTINCT root FROM commands WHERE outcome IS NULL");
    due.then((rows) => rows.forEach((row) => desk.look(Number(row["root"]))), problem);
  };
  node.onCommand((payload) => {
    // Nothing: the connection is back, and something may have been said meanwhile.
    if (payload === "") lookForDue();
    // A beat that is under way may have looked before there was anything to take.
    else if (payload === freeTree) void membership.beat().then(() => membership.beat());
    else if (!payload.startsWith("done ")) desk.look(Number(payload));
  });
  node.onShared(() => engine.followPause());
  const leave = (roots: readonly number[]): Promise<void> => giveUp({ node, engine, taken, leaving }, roots);
  const { hasWorkOf = () => false } = options;
  const placeWaiting = waitingPlacement({ node, engine, labels, hasWorkOf, giveUp: leave });
  let placing: Promise<void> | undefined;
  engine.waitForRunners(() => void membership.beat().then(() => membership.beat()));
  labels.onFound(() => void membership.beat());
  const membership = new Membership({
    address,
    incarnation: node.incarnation,
    leaseMs,
    labels,
    takeUp: (roots) => takeUp({ node, engine, taken, onLeft, desk }, roots),
    giveUp: leave,
    onTold() {
      placing ??= placeWaiting()
        .catch(problem)
        .finally(() => (placing = undefined));
    },
    onLost,
    ...(takesTrees === undefined ? {} : { takesTrees }),
    ...(onProblem === undefined ? {} : { onProblem }),
    onRenewed(until) {
      lookForDue();
      onRenewed?.(until);
    },
  });
  const ends = new EndWatch(node);
  engine.onHalted((reason) => ends.fail(reason));
  const over = (): TuttiError | undefined =>
    engine.halted === undefined || options.comesBack?.() === true ? undefined : isOver();
  return { node, engine, membership, isHere, ends, labels, over, doDue: (root) => desk.visit(root) };
}

/** For requests of which nothing was done. */
function isOver(): TuttiError {
  return new TuttiError("stopped", "this node is being stopped or joins anew; ask again, or ask another node");
}

/** Nothing of this life goes on, and nothing of it is recorded any more. */
export async function endLife({ engine, membership, node }: Life, error: TuttiError): Promise<void> {
  node.fail(error);
  await membership.close();
  await engine.stop({ failed: true }).catch(() => undefined);
  await node.close();
}

interface TakingUp {
  readonly node: NodeStore;
  readonly engine: Engine;
  readonly taken: Set<number>;
  readonly desk: CommandDesk;
  readonly onLeft: ((root: number, error: TuttiError) => void) | undefined;
}

/** A tree that is busy for so long stays for now. */
const idleWithinMs = 2_000;

interface GivingUp {
  readonly node: NodeStore;
  readonly engine: Engine;
  readonly taken: Set<number>;
  readonly leaving: Set<number>;
}

/** Everything that was recorded is durable before anybody else can have a tree. */
async function giveUp({ node, engine, taken, leaving }: GivingUp, roots: readonly number[]): Promise<void> {
  const giving = roots.map(async (root) => {
    const name = taskName(node.store.salt, root);
    try {
      if (!(await engine.releaseIdle(name, idleWithinMs, () => leaving.add(root)))) return;
      taken.delete(root);
      node.forget([root]);
      await insistOnRelease(node, root);
    } finally {
      leaving.delete(root);
    }
  });
  const failed = (await Promise.allSettled(giving)).find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** One tree that cannot be taken up must not stop the others. */
async function takeUp({ node, engine, taken, desk, onLeft }: TakingUp, roots: readonly number[]): Promise<void> {
  const { store } = node;
  const unknown = await node.load(roots).catch(async (thrown: unknown) => {
    // The database went away meanwhile, and nothing of them is here. When it is back, whoever takes trees next tries again.
    if (toTuttiError(thrown).code === "unreachable") {
      await Promise.all(roots.map((root) => insistOnRelease(node, root)));
    }
    throw thrown;
  });
  const taking = roots.map(async (root) => {
    try {
      refuseNewer(unknown.get(root));
      // Nobody worked on the tree since its last record.
      await engine.adopt(root, { downSince: lastAtOf(store, root) });
      taken.add(root);
      desk.look(root);
    } catch (thrown) {
      if (engine.halted !== undefined) return;
      await engine.release(taskName(store.salt, root));
      const error = toTuttiError(thrown);
      if (error.code === "newer") await leaveToNewer(node, root);
      onLeft?.(root, error);
    }
  });
  await Promise.all(taking);
}

function refuseNewer(word: string | undefined): void {
  if (word === undefined) return;
  const message = `a newer Tutti recorded something in this tree that this version does not know (${word}); it waits for a node of that version`;
  throw new TuttiError("newer", message);
}

/** A node of a newer version recorded it. It waits for one that can read it. */
async function leaveToNewer(node: NodeStore, root: number): Promise<void> {
  node.forget([root]);
  const sql = "UPDATE trees SET owner = NULL, needs = needs || $3::text WHERE root = $2 AND owner = $1";
  await node.rows(sql, [node.incarnation, root, needOfNewer()]).catch(() => undefined);
}

function lastAtOf(store: NodeStore["store"], root: number): number {
  const times = store.tree(root).map((task) => store.lastEventAt(task.id) ?? task.created_at);
  return Math.max(...times);
}
