// Gives a tree up to whichever node can take it.

import { toTuttiError } from "../protocol/error.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";

const releaseAgainMs = 200;

/** Nobody takes a tree whose owner lives: while the database is away, it is tried again. */
export async function insistOnRelease(node: NodeStore, root: number): Promise<void> {
  for (;;) {
    try {
      await node.rows("SELECT release_trees($1, $2)", [node.incarnation, [root]]);
      return;
    } catch (thrown) {
      // The node is dead or being stopped, and then its trees are free anyway.
      if (node.store.failure !== undefined || toTuttiError(thrown).code === "stopped") return;
      await new Promise((resolve) => setTimeout(resolve, releaseAgainMs));
    }
  }
}
