// Names the attempt that changes on the page are of, so that what is done with them is done with no other.

import type { WorkspaceDiff } from "../../../../src/client/index.ts";

/** Undefined for an integration, which belongs to no attempt. */
export function attemptOf({ kind, attempt }: Pick<WorkspaceDiff, "kind" | "attempt">): number | undefined {
  return kind === "integration" ? undefined : attempt;
}
