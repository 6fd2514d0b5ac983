// Looks at or cancels tasks of a tree that no living node can run: this node takes the tree for a moment, and runs nothing of it.

import { taskName } from "../store/names.ts";
import type { NodeLife } from "./cluster-tasks.ts";
import { insistOnRelease } from "./release-tree.ts";

/** Undefined when somebody runs the tree or can take it up: then it is for them. */
export async function visitParked<T>(
  { node, engine }: NodeLife,
  root: number,
  visit: () => Promise<T>,
): Promise<{ readonly given: T } | undefined> {
  const taken = await node.rows("SELECT root FROM take_parked($1, $2)", [node.incarnation, root]);
  if (taken.length === 0) return undefined;
  try {
    const newer = await node.load([root]);
    if (newer.size > 0) return undefined;
    await engine.adopt(root, { downSince: Date.now(), launch: false });
    return { given: await visit() };
  } finally {
    // What was not canceled stays parked.
    await engine.release(taskName(node.store.salt, root)).catch(() => undefined);
    if (node.store.failure === undefined) node.forget([root]);
    await insistOnRelease(node, root);
  }
}
