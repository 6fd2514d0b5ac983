// Who works on a state folder, as far as the note beside its lock tells.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

const Owner = z.object({ pid: z.int().positive(), since: z.string() });
type Owner = z.infer<typeof Owner>;

/** The note stays behind when its writer has gone: only a living process with this pid makes it mean anything. */
export function lockOwner(folder: string): Owner | undefined {
  try {
    return Owner.safeParse(JSON.parse(readFileSync(join(folder, "owner.json"), "utf8"))).data;
  } catch {
    return undefined;
  }
}
