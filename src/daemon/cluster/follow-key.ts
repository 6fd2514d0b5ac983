// Follows the key of the cluster at a node that works: a new one that the node was given before is used at once, without it the node must go.

import type { TuttiError } from "../../protocol/error.ts";
import { keyCheckRow, otherKeyError } from "../../store/postgres/key-check.ts";
import type { NodeStore } from "../../store/postgres/postgres-store.ts";
import type { ChangingKey } from "./changing-key.ts";
import { adoptKey } from "./find-cluster-key.ts";

export interface KeyFollowing {
  /** Of this node. */
  readonly folder: string;
  readonly key: ChangingKey;
  /** Told who has changed the key, when this node has the new one. */
  readonly onChanged?: ((by: string) => void) | undefined;
}

export interface KeyFollower {
  /** Called when the cluster has a key that this node does not have; at once if that was before. */
  onLost(listener: (error: TuttiError) => void): () => void;
}

/** The new key counts before anybody reads what is sealed with it: both come with the same change of shared rows. */
export function followKey(
  node: Pick<NodeStore, "onShared" | "document">,
  { folder, key, onChanged }: KeyFollowing,
): KeyFollower {
  const listeners = new Set<(error: TuttiError) => void>();
  let lost: TuttiError | undefined;
  const follow = (check: string): void => {
    if (check === key.check) return;
    const found = keyIn(folder, check);
    if (found === undefined) {
      lost = otherKeyError(key.check, [key.check]);
      key.lose(lost);
      for (const listener of listeners) listener(lost);
      return;
    }
    lost = undefined;
    key.replace(found);
    onChanged?.(node.document("signing-key")?.changed_by ?? "");
  };
  node.onShared((changes) => {
    for (const { name, row, gone } of changes) {
      if (name === "meta" && row["key"] === keyCheckRow && !gone) follow(String(row["value"]));
    }
  });
  return {
    onLost(listener) {
      listeners.add(listener);
      if (lost !== undefined) listener(lost);
      return () => listeners.delete(listener);
    },
  };
}

/** A file that cannot be read is no key. */
function keyIn(folder: string, check: string): ReturnType<typeof adoptKey> {
  try {
    return adoptKey(folder, check);
  } catch {
    return undefined;
  }
}
