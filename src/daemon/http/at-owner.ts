// Passes a request on to the node that runs its tree, with the rights of whoever asked here, for as long as that node has the tree.

import { setTimeout as sleep } from "node:timers/promises";

import type { Tutti } from "../../client/client.ts";
import type { TreeOwner } from "../../cluster/tree-owner.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { SharedByNodes } from "../state/kept-records.ts";
import { type Asking, clientOf, mayAsk } from "./here-or-elsewhere.ts";

type Owners = Pick<SharedByNodes, "ownerOf">;

/** A node that is frozen or cut off does not answer and does not refuse; another one has its trees after its lease. */
const lookEveryMs = 5_000;

const moved = new TuttiError("busy", "the run changes hands between two nodes; ask again");

/** Throws `busy` when the tree has gone to another node meanwhile. A node that was asked by another one asks nobody. */
export async function atOwner<T>(
  all: SharedByNodes,
  request: Asking,
  task: number,
  ask: (tutti: Tutti) => Promise<T>,
): Promise<T> {
  const asking = mayAsk(all, request);
  if (asking === undefined) throw moved;
  const owner = await all.ownerOf(task, request.signal);
  // It has come here since.
  if (owner === "here") throw moved;
  const [gone, answered] = [new AbortController(), new AbortController()];
  const watching = untilGone(all, task, owner, answered.signal).then(() => gone.abort(moved));
  const there = clientOf(all, owner, { ...asking, signal: AbortSignal.any([asking.signal, gone.signal]) });
  try {
    return await ask(there);
  } catch (thrown) {
    const isElsewhere = thrown instanceof TuttiError && thrown.code === "not_found";
    throw gone.signal.aborted || isElsewhere ? moved : thrown;
  } finally {
    answered.abort();
    await Promise.all([there.close(), watching]);
  }
}

/** Resolves when the tree is not with that node any more, or with the signal. */
async function untilGone(
  { ownerOf }: Owners,
  task: number,
  { incarnation }: Exclude<TreeOwner, "here">,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await sleep(lookEveryMs, undefined, { signal, ref: false });
      const now = await ownerOf(task, signal);
      if (now === "here" || now.incarnation !== incarnation) return;
    } catch {
      if (signal.aborted) return;
    }
  }
}
