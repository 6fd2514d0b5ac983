// The note beside a state folder's lock that says which process took it last.

import { join } from "node:path";

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";

const LockOwner = z.object({ pid: z.int().positive(), since: z.string() });
export type LockOwner = Readonly<z.infer<typeof LockOwner>>;

/** The note is not removed when its process ends: by itself it does not prove that anybody holds the lock. */
export function readLockOwner(folder: string): LockOwner | undefined {
  return LockOwner.safeParse(parseJson(readOptionalFile(join(folder, "owner.json")) ?? "")).data;
}
