// What the root task of a tree was given, read from the store once per tree.

import type { Store } from "../store/store.ts";
import type { Tree } from "./live-task.ts";
import { taskBodyIn } from "./task-body.ts";

export function rootRecord(
  store: Pick<Store, "task">,
  tree: Tree,
): { readonly input: unknown; readonly config: unknown } {
  if (tree.rootRecord === undefined) {
    const { input, config } = taskBodyIn(store.task(tree.root)?.body ?? "null");
    tree.rootRecord = { input, config };
  }
  return tree.rootRecord;
}
