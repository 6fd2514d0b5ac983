// Where the checkouts of checks are: beside the state folder, which no check may see.

import { existsSync } from "node:fs";

export function checksFolder(state: string): string {
  return `${state}-checks`;
}

/** Removes what verifications left that a crash cut off. Call it before any task runs. */
export async function removeLeftCheckouts(state: string): Promise<void> {
  const folder = checksFolder(state);
  // The code of verification is loaded only where something was verified before.
  if (existsSync(folder)) await (await import("../../verification/index.ts")).removeCheckFolders(folder);
}
