// Follows a task and all below it to the end, and folds the events into the tree that everything on the screen is drawn from.
import type { Reader } from "../../client/client.ts";
import { emptyTree, type FoldedTree, foldTree, isSettled } from "../../core/fold-tree.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { AgentResult } from "../../protocol/invocation/invocation-result.ts";
import type { Display } from "./display.ts";

export type TaskListener = Display["update"];

export interface WatchOptions {
  readonly task: TaskId;
  /** Listeners are given text while it is being written, too. */
  readonly live: boolean;
  /** Called when the connection to the service is lost, before the next try. */
  readonly onLost?: (() => Promise<void>) | undefined;
}

/** A tree in which every task has ended. */
export interface FinishedTree {
  readonly tree: FoldedTree;
  /** How the task at the top ended. */
  readonly result: AgentResult;
}

/** Resolves after the last event of the last task. Every listener is given each event once the tree contains it. */
export async function watchTask(
  reader: Pick<Reader, "follow">,
  { task, live, onLost }: WatchOptions,
  listeners: readonly TaskListener[],
): Promise<FinishedTree> {
  const tree = emptyTree(task);
  for await (const item of reader.follow({ task, live, ...(onLost === undefined ? {} : { onLost }) })) {
    if ("event" in item) foldTree(tree, item.event);
    for (const listener of listeners) listener(item, tree);
  }
  // Following ends early only when the client is closed.
  if (tree.result === undefined || !isSettled(tree)) {
    throw new TuttiError("stopped", `the connection was closed before ${task} and all below it had ended`);
  }
  return { tree, result: tree.result };
}
