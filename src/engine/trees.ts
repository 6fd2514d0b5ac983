// The trees that this process works on: taken over from an earlier process, released to another one, and halted.

import { toTuttiError, TuttiError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { taskName } from "../store/names.ts";
import { resumeTask } from "./crash-guard.ts";
import { watchDeadline } from "./end-task.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { LiveTask, Tree } from "./live-task.ts";
import { waitForRunner } from "./missing-runners.ts";
import { alignStatus, recoverTree } from "./recovery.ts";
import { holdStopped } from "./stopped-task.ts";

export interface TreeOptions {
  /** Ends what an interrupted step left behind, from what it noted; awaited before its tree goes on. */
  readonly cleanUp?: (note: unknown) => Promise<void>;
  /** Whether the task can go on here; when absent, by its kind alone. */
  readonly runs?: (task: Pick<LiveTask, "kind" | "agent">) => boolean;
  /** Told of each task of a recovered tree that nobody here runs. */
  readonly onParked?: (task: TaskId, kind: string, agent: string) => void;
  /** Told of each tree that could not be taken over and stays as it is on disk. */
  readonly onLeft?: (root: TaskId, error: TuttiError) => void;
}

export interface AdoptOptions {
  /** When somebody last worked on the tree. */
  readonly downSince: number;
  /** False: the tasks are there to be asked, told and canceled; none of them goes on here. */
  readonly launch?: boolean;
}

/** After a restart a caller sends its invocation again. For so long it finds the task that went on, even if it has ended. */
const sentAgainMs = 60_000;
/** How many trees are taken over until whatever else the process has to do gets its turn. */
const treesAtOnce = 16;
/** How long a stop waits for steps that do not listen to their signal. */
const graceMs = 5_000;

export class Trees {
  readonly #parts: EngineParts;
  readonly #options: TreeOptions;
  readonly #halted: () => TuttiError | undefined;
  /** Roots of the trees that this process took over unfinished, and until when a caller may send their invocation again. */
  readonly #takenOver = new Map<number, number>();

  /** `halted`: why nothing goes on any more; undefined while it does. */
  constructor(parts: EngineParts, options: TreeOptions, halted: () => TuttiError | undefined) {
    this.#parts = parts;
    this.#options = options;
    this.#halted = halted;
  }

  /** Takes over every unfinished tree of the store. Returns how many tasks go on. */
  async recover(launch: boolean): Promise<number> {
    const { store, clock } = this.#parts;
    const downSince = store.lastEventAt(null) ?? clock.now();
    const taken: Promise<number>[] = [];
    for (const root of store.unfinishedTrees()) {
      if (this.#halted() !== undefined) break;
      taken.push(this.adopt(root, { downSince, launch }).catch((thrown: unknown) => this.#leave(root, thrown)));
      // Whoever asks something meanwhile gets an answer.
      if (taken.length % treesAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const counts = await Promise.all(taken);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** One tree that cannot be taken over must not stop the others: it stays as it is on disk, and that is told. */
  #leave(root: number, thrown: unknown): number {
    const halted = this.#halted();
    if (halted !== undefined) throw halted;
    const name = taskName(this.#parts.store.salt, root);
    const tree = this.#parts.tasks.find(name)?.tree;
    const error = toTuttiError(thrown);
    if (tree !== undefined) {
      this.#haltOne(tree, error);
      this.#parts.tasks.release(tree);
    }
    this.#options.onLeft?.(name, error);
    return 0;
  }

  async adopt(root: number, { downSince, launch = true }: AdoptOptions): Promise<number> {
    const parts = this.#parts;
    const { tasks, notes } = recoverTree(parts, root, downSince);
    for (const task of tasks) {
      parts.tasks.add(task);
      watchDeadline(parts, task);
      alignStatus(parts, task);
    }
    if (tasks.some((task) => task.result === undefined)) this.#takenOver.set(root, parts.clock.now() + sentAgainMs);
    const open = tasks.filter((task) => task.result === undefined);
    const resumes = new Map(parts.store.resumesOf(root).map(({ task, count }) => [task, count]));
    if (!launch) {
      // What follows from an answer is recorded with it, so whoever decides about a stopped task has to be heard.
      for (const { tree } of tasks) tree.onlyVisited = true;
      for (const task of open) resumeTask(parts, task, resumes.get(task.id) ?? 0);
      return 0;
    }
    await Promise.all(notes.map(async (note) => this.#options.cleanUp?.(note)));
    const { runs } = this.#options;
    const known = open.filter((task) => parts.runners.knows(task.kind) && (runs === undefined || runs(task)));
    for (const task of known) resumeTask(parts, task, resumes.get(task.id) ?? 0);
    for (const task of open.filter((each) => !known.includes(each))) {
      if (parts.missing === undefined) this.#options.onParked?.(task.name, task.kind, task.agent);
      // Whoever stopped it has to be heard all the same.
      else if (!holdStopped(parts, task)) waitForRunner(parts, task, task.kind);
    }
    return known.length;
  }

  /** True once for each tree that was taken over a short time ago: whoever sent its invocation again has then found it. */
  isJustTakenOver(root: number): boolean {
    const until = this.#takenOver.get(root) ?? 0;
    this.#takenOver.delete(root);
    return until > this.#parts.clock.now();
  }

  async release(root: TaskId): Promise<void> {
    const { tasks, store } = this.#parts;
    const tree = tasks.find(root)?.tree;
    if (tree === undefined) return;
    this.#haltOne(tree, new TuttiError("stopped", `the tree of ${root} was released; it goes on elsewhere`));
    await this.#loopsReturned([tree]);
    tasks.release(tree);
    await store.committed();
  }

  /**
   * Releases a tree as soon as none of its steps is under way, so that none is cut off. `released` is called in the same moment:
   * from then on nothing about the tree can be done here. False when it was busy for all of the time, or is over.
   */
  async releaseIdle(root: TaskId, within: number, released: () => void): Promise<boolean> {
    const { tasks, store, clock } = this.#parts;
    const tree = tasks.find(root)?.tree;
    if (tree === undefined || tree.halted !== undefined || tree.onIdle !== undefined) return false;
    let hasLeft = false;
    const leave = (): void => {
      hasLeft = true;
      // Nothing has ended here against its will, so nothing is held against the tasks.
      for (const { id, resume } of tree.live) if (resume?.counted === true) store.setResumes(id, 0);
      this.#haltOne(tree, new TuttiError("stopped", `the tree of ${root} was released; it goes on elsewhere`));
      released();
    };
    if (tree.steps === 0) leave();
    else {
      const idle = Promise.withResolvers<void>();
      tree.onIdle = () => {
        if (tree.halted === undefined && tasks.find(root) !== undefined) leave();
        idle.resolve();
      };
      const callOff = clock.timer(within, idle.resolve);
      await idle.promise;
      callOff();
      tree.onIdle = undefined;
    }
    if (!hasLeft) return false;
    await this.#loopsReturned([tree]);
    tasks.release(tree);
    await store.committed();
    return true;
  }

  halt(reason: TuttiError): void {
    for (const tree of this.#parts.tasks.trees()) this.#haltOne(tree, reason);
  }

  /** Ends the loops of a tree and calls off its timers; nothing of that is recorded. */
  #haltOne(tree: Tree, reason: TuttiError): void {
    tree.halted ??= reason;
    for (const task of tree.live) {
      this.#parts.waits.release(task);
      task.callOffDeadline?.();
      task.stop?.(reason);
    }
  }

  /** Resolves when the loops of all trees have returned, or have had their time. */
  allReturned(): Promise<void> {
    return this.#loopsReturned([...this.#parts.tasks.trees()]);
  }

  async #loopsReturned(trees: readonly Tree[]): Promise<void> {
    const running = trees.filter((tree) => tree.loops > 0);
    if (running.length === 0) return;
    const returned = Promise.all(
      running.map((tree) => new Promise<void>((resolve) => (tree.onLoopsReturned = resolve))),
    );
    let callOff: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      callOff = this.#parts.clock.timer(graceMs, resolve);
    });
    await Promise.race([returned, late]);
    callOff?.();
  }
}
