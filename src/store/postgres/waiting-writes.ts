// What is durable about trees and not in the cache yet: it waits in memory, since most trees are over before anybody reads them.

import { isTreeWrite, type NodeWrite, type Write } from "./batch-rows.ts";
import { treeOf } from "./tree-ids.ts";

/** Beyond either, the trees that have waited longest are brought in. */
const [maxWrites, maxText] = [16_384, 8 * 1024 * 1024];

interface WaitingTree {
  readonly writes: Write[];
  /** How many characters their texts have. */
  text: number;
}

/** Where the id is that says which tree a write is about; it is the first value of all others. */
const idAt: Partial<Record<NodeWrite, number>> = { setStatus: 1, noteStepStart: 1, setSettled: 1, bindKey: 1 };

/** The tree that a write is about. */
export function treeOfWrite({ name, values }: Write): number {
  return treeOf(Number(values[idAt[name] ?? 0]));
}

export class WaitingWrites {
  readonly #trees = new Map<number, WaitingTree>();
  #writes = 0;
  #text = 0;

  add(write: Write): void {
    if (!isTreeWrite(write.name)) return;
    const tree = treeOfWrite(write);
    let waiting = this.#trees.get(tree);
    if (waiting === undefined) this.#trees.set(tree, (waiting = { writes: [], text: 0 }));
    waiting.writes.push(write);
    let text = 0;
    for (const value of write.values) if (typeof value === "string") text += value.length;
    waiting.text += text;
    this.#text += text;
    this.#writes += 1;
  }

  has(tree: number): boolean {
    return this.#trees.has(tree);
  }

  trees(): number[] {
    return [...this.#trees.keys()];
  }

  /** The trees that have to be brought in so that not too much waits. */
  tooMany(): number[] {
    let [writes, text] = [this.#writes, this.#text];
    if (writes <= maxWrites && text <= maxText) return [];
    const oldest: number[] = [];
    for (const [tree, waiting] of this.#trees) {
      if (writes <= maxWrites / 2 && text <= maxText / 2) break;
      oldest.push(tree);
      writes -= waiting.writes.length;
      text -= waiting.text;
    }
    return oldest;
  }

  writesOf(tree: number): readonly Write[] {
    return this.#trees.get(tree)?.writes ?? [];
  }

  /** The tree is in the cache, or nobody needs it here any more. */
  drop(tree: number): void {
    const waiting = this.#trees.get(tree);
    if (waiting === undefined) return;
    this.#trees.delete(tree);
    this.#writes -= waiting.writes.length;
    this.#text -= waiting.text;
  }
}
