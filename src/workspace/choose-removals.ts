// Decides which workspaces to remove so that they stay within the limits; a pure function of what is there.

import type { WorkspaceState } from "./list-workspaces.ts";

export interface RemovalCandidate {
  readonly id: string;
  readonly state: WorkspaceState;
  readonly bytes: number;
  /** When it was last used, in milliseconds since 1970. */
  readonly used_at: number;
  /** Whether a session works there, or its task is not finished. */
  readonly active: boolean;
}

export interface RemovalLimits {
  readonly maxBytes?: number | undefined;
  readonly maxCount?: number | undefined;
  /** Workspaces that were not used for this long are removed even when there is room. */
  readonly maxAgeMs?: number | undefined;
  /** Whether a workspace with uncommitted work may be removed, after the work was saved. */
  readonly mayRemoveUncommitted?: boolean | undefined;
}

export interface Removals {
  readonly remove: readonly { readonly id: string; readonly why: "age" | "count" | "size" }[];
  /** By how much the limits are still exceeded afterwards. */
  readonly over: { readonly bytes: number; readonly count: number };
}

/** Those that are cheapest to do without come first. A removed one keeps its branch, so only uncommitted work needs saving. */
const order: Readonly<Record<WorkspaceState, number>> = {
  removed: 0,
  missing: 0,
  clean: 0,
  merged: 1,
  unmerged: 2,
  uncommitted: 3,
};

export function chooseRemovals(
  candidates: readonly RemovalCandidate[],
  { maxBytes = Infinity, maxCount = Infinity, maxAgeMs = Infinity, mayRemoveUncommitted = false }: RemovalLimits,
  now: number,
): Removals {
  const present = candidates.filter(({ state }) => state !== "removed");
  let bytes = present.reduce((sum, each) => sum + each.bytes, 0);
  let count = present.length;
  const remove: { id: string; why: "age" | "count" | "size" }[] = [];
  const free = present
    .filter(({ active, state }) => !active && (state !== "uncommitted" || mayRemoveUncommitted))
    .toSorted((a, b) => order[a.state] - order[b.state] || a.used_at - b.used_at || (a.id < b.id ? -1 : 1));
  const take = (each: RemovalCandidate, why: "age" | "count" | "size"): void => {
    remove.push({ id: each.id, why });
    bytes -= each.bytes;
    count -= 1;
  };
  const [old, young] = [free.filter(isOld), free.filter((each) => !isOld(each))];
  function isOld({ used_at }: RemovalCandidate): boolean {
    return now - used_at > maxAgeMs;
  }
  for (const each of old) take(each, "age");
  for (const each of young) {
    if (count > maxCount) take(each, "count");
    else if (bytes > maxBytes && each.bytes > 0) take(each, "size");
  }
  return { remove, over: { bytes: Math.max(0, bytes - maxBytes), count: Math.max(0, count - maxCount) } };
}
