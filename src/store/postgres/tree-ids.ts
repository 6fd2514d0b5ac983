// Ids of a store that many nodes share: the number of the tree and a place in it, so that any id names its tree.

import { TuttiError } from "../../protocol/error.ts";
import type { RowIds } from "../sqlite/sqlite-store.ts";

/** So many rows of each kind fit in one tree. */
export const treeUnit = 2 ** 20;

export const treeOf = (id: number): number => Math.floor(id / treeUnit);
/** A tree is named by its root task, which is always its first. */
export const rootOf = (id: number): number => treeOf(id) * treeUnit + 1;
const rootOfTree = (tree: number): number => tree * treeUnit + 1;

export type IdKind = "tasks" | "runs" | "log" | "waits" | "mail";

interface TreeCounts extends Record<IdKind, number> {
  /** Tasks that are not over. */
  open: number;
  readonly madeHere: boolean;
}

export interface TreeNumbers {
  readonly first: number;
  readonly count: number;
}

export class TreeIds implements RowIds {
  readonly #trees = new Map<number, TreeCounts>();
  /** Numbers for new trees that no other node has; the last one is the next. */
  readonly #free: number[] = [];
  readonly #onFew: () => void;
  readonly #few: number;

  /** `onFew`: called when it is time to fetch more numbers. */
  constructor(numbers: TreeNumbers, onFew: () => void) {
    this.#onFew = onFew;
    this.#few = numbers.count / 2;
    this.addNumbers(numbers);
  }

  addNumbers({ first, count }: TreeNumbers): void {
    for (let tree = first; tree < first + count; tree += 1) this.#free.push(tree);
  }

  task(root: number | null): number {
    if (root !== null) {
      this.#at(root).open += 1;
      return this.#next(root, "tasks");
    }
    const tree = this.#number();
    this.#trees.set(tree, { tasks: 1, runs: 0, log: 0, waits: 0, mail: 0, open: 1, madeHere: true });
    return rootOfTree(tree);
  }

  run(task: number): number {
    return this.#next(task, "runs");
  }

  line(run: number): number {
    return this.#next(run, "log");
  }

  wait(root: number): number {
    return this.#next(root, "waits");
  }

  mail(task: number): number {
    return this.#next(task, "mail");
  }

  /** Threads share the numbers of trees, so that two nodes never give the same one. */
  thread(): number {
    return this.#number();
  }

  /** The tree of this id is in the cache. */
  has(id: number): boolean {
    return this.#trees.has(treeOf(id));
  }

  isMadeHere(task: number): boolean {
    return this.#trees.get(treeOf(task))?.madeHere === true;
  }

  /** One task of the tree is over. True when it was the last. */
  ended(task: number): boolean {
    return (this.#at(task).open -= 1) === 0;
  }

  /** A tree that was loaded: the last places that its rows have, and its open tasks. */
  adopt(root: number, last: Readonly<Record<IdKind, number>>, open: number): void {
    this.#trees.set(treeOf(root), { ...last, open, madeHere: false });
  }

  forget(root: number): void {
    this.#trees.delete(treeOf(root));
  }

  #number(): number {
    const number = this.#free.shift();
    if (number === undefined) throw new TuttiError("busy", "too many tasks are being started at once; try again");
    if (this.#free.length === this.#few) this.#onFew();
    return number;
  }

  #next(id: number, kind: IdKind): number {
    const tree = treeOf(id);
    const place = (this.#at(id)[kind] += 1);
    if (place >= treeUnit) {
      throw new TuttiError(
        "too_large",
        `this tree has ${treeUnit - 1} records of one kind, and more do not fit in one tree`,
      );
    }
    return tree * treeUnit + place;
  }

  #at(id: number): TreeCounts {
    const found = this.#trees.get(treeOf(id));
    if (found === undefined) throw new TuttiError("internal", `the tree of ${id} is not with this node`);
    return found;
  }
}
