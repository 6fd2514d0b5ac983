// Where a tree goes one of whose tasks needs a runner that its node does not have: to a node that has everything, if it can move.

import type { Engine } from "../engine/engine.ts";
import type { WaitingTree } from "../engine/missing-runners.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";
import type { NodeLabels } from "./node-labels.ts";
import { placeOf } from "./place-tree.ts";

export interface WaitingOptions {
  readonly node: Pick<NodeStore, "incarnation" | "rows">;
  readonly engine: Pick<Engine, "waitingForRunners" | "goOnWith">;
  readonly labels: NodeLabels;
  /** Work of the tree is on this machine, such as a workspace. */
  readonly hasWorkOf: (root: number) => boolean;
  readonly giveUp: (roots: readonly number[]) => Promise<void>;
}

const addNeeds = `UPDATE trees SET needs = ARRAY(SELECT DISTINCT unnest(needs || $3::text[])), stays = $4
  WHERE root = $2 AND owner = $1 AND NOT (needs @> $3::text[] AND stays = $4) RETURNING root`;
const dropNeeds = `UPDATE trees SET needs = ARRAY(SELECT unnest(needs) EXCEPT SELECT unnest($3::text[])), stays = false
  WHERE root = $2 AND owner = $1`;
const isHadElsewhere = `SELECT 1 FROM trees t JOIN nodes n ON n.alive AND n.incarnation <> t.owner AND t.needs <@ n.labels
  WHERE t.root = $2 AND t.owner = $1`;

/**
 * To be called with every beat. What a waiting task needs becomes a need of its tree, so that also whoever takes the tree over has
 * it. A need that nobody waits for any more, because its task was canceled, is dropped.
 */
export function waitingPlacement(options: WaitingOptions): () => Promise<void> {
  const { node, engine, labels, hasWorkOf, giveUp } = options;
  const { incarnation } = node;
  const added = new Map<number, readonly string[]>();

  const lackOf = async ({ root, config, runners }: WaitingTree): Promise<string[]> => {
    const { project } = placeOf(config, labels);
    const lacking: string[] = [];
    for (const runner of runners) {
      const need = labels.runnerNeed(runner, project);
      if (await labels.has([need])) engine.goOnWith(root, runner);
      else lacking.push(need);
    }
    return lacking;
  };

  return async () => {
    const waiting = engine.waitingForRunners;
    for (const [root, needs] of added) {
      if (waiting.some((tree) => tree.root === root)) continue;
      added.delete(root);
      const gone: string[] = [];
      for (const need of needs) if (!(await labels.has([need]))) gone.push(need);
      if (gone.length > 0) await node.rows(dropNeeds, [incarnation, root, gone]);
    }
    for (const tree of waiting) {
      const { root } = tree;
      const needs = await lackOf(tree);
      if (needs.length === 0) continue;
      const stays = tree.begunHere || hasWorkOf(root);
      const changed = await node.rows(addNeeds, [incarnation, root, needs, stays]);
      added.set(root, [...new Set([...(added.get(root) ?? []), ...needs])]);
      const isElsewhere = !stays && (await node.rows(isHadElsewhere, [incarnation, root])).length > 0;
      if (isElsewhere) await giveUp([root]);
      // Others look whether they have it, and say so.
      else if (changed.length > 0) await node.rows("SELECT tell_of_free()");
    }
  };
}
