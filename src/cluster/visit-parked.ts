// Carries out what is asked of a tree that no living node can run: this node takes the tree for a moment, and runs nothing of it.

import { taskName } from "../store/names.ts";
import type { NodeLife } from "./cluster-tasks.ts";
import { insistOnRelease } from "./release-tree.ts";

/** Nothing happens when somebody runs the tree or can take it up: then it is for them. Whatever was asked is kept for the next one. */
export async function visitParked(
  { node, engine, doDue }: Pick<NodeLife, "node" | "engine" | "doDue">,
  root: number,
): Promise<void> {
  const taken = await node.rows("SELECT root FROM take_parked($1, $2)", [node.incarnation, root]);
  if (taken.length === 0) return;
  try {
    const newer = await node.load([root]);
    if (newer.size > 0) return;
    await engine.adopt(root, { downSince: Date.now(), launch: false });
    await doDue(root);
  } finally {
    // What was not canceled stays parked.
    await engine.release(taskName(node.store.salt, root)).catch(() => undefined);
    if (node.store.failure === undefined) node.forget([root]);
    await insistOnRelease(node, root);
  }
}
