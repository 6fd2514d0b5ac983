// Finds the node that runs a tree, for requests that need the memory or the machine of that node.

import { TuttiError } from "../protocol/error.ts";
import { rootOf } from "../store/postgres/tree-ids.ts";
import type { NodeLife } from "./cluster-tasks.ts";

/** `here`: the tree is in memory here, or is over and was brought here to be looked at. */
export type TreeOwner =
  | "here"
  | { readonly incarnation: number; readonly url: string; readonly certificate: string | null };

/** A tree whose node died is with another one after a lease. */
const patienceMs = 60_000;
const lookAgainMs = 50;

/** Waits while the tree of the task changes hands: nobody is told that something is unknown because it is between two nodes. */
export async function ownerOf(life: NodeLife, task: number, signal?: AbortSignal): Promise<TreeOwner> {
  const { node, engine, isHere } = life;
  const root = rootOf(task);
  const sql = `SELECT t.owner, t.open, n.url, n.certificate FROM trees t LEFT JOIN nodes n ON n.incarnation = t.owner AND n.alive
    WHERE t.root = $1`;
  for (const end = Date.now() + patienceMs; Date.now() < end;) {
    signal?.throwIfAborted();
    if (engine.halted !== undefined) throw engine.halted;
    const [tree] = await node.rows(sql, [root]);
    if (tree === undefined) return "here";
    if (tree["open"] !== 1) {
      await node.bringClosed(root);
      return "here";
    }
    const { url, certificate } = tree;
    if (tree["owner"] === node.incarnation) {
      if (isHere(root)) return "here";
    } else if (typeof url === "string" && url !== "") {
      const incarnation = Number(tree["owner"]);
      return { incarnation, url, certificate: typeof certificate === "string" ? certificate : null };
    }
    // A process that stops does not go on for whoever waits here.
    await new Promise((resolve) => void setTimeout(resolve, lookAgainMs).unref());
  }
  const message = "no node has taken over this task yet; ask again soon";
  throw new TuttiError("busy", message);
}
