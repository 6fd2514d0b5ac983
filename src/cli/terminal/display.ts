// What shows a run on standard error while it goes on, and is silent while somebody types.
import type { EventOrDelta } from "../../client/client.ts";
import type { FoldedTree } from "../../core/fold-tree.ts";

export interface Display {
  /** Called for every event and every piece of text; `tree` already contains the event. */
  readonly update: (item: EventOrDelta, tree: FoldedTree) => void;
  /** Shows nothing until `resume`. */
  pause(): void;
  resume(): void;
  /** Shows what is still to be shown, and nothing after that. */
  stop(): void;
}
