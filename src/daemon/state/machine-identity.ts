// Which machine this is: an id that is made once for a state folder and holds only on the machine on which it was made.

import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { Machine } from "../../workspace/index.ts";

const Kept = z.object({ id: z.string().min(1), host: z.string() });

/**
 * A state folder that was copied to another machine gets another id there, because the workspaces that it tells of were
 * not copied with it.
 */
export function machineOf(state: string, name: string, host: string = hostFingerprint()): Machine {
  const path = join(state, "machine.json");
  const kept = Kept.safeParse(parseJson(readPrivateFile(path) ?? "")).data;
  if (kept?.host === host) return { id: kept.id, name };
  const id = randomUUID();
  replacePrivateFile(path, `${JSON.stringify({ id, host })}\n`);
  return { id, name };
}

/** Images of machines are copied together with their machine id, so the name counts as well. */
function hostFingerprint(): string {
  let id = "";
  try {
    id = readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    // Not every system has one.
  }
  return createHash("sha256").update(`${id}\n${hostname()}`).digest("hex");
}
