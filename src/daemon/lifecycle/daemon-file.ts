// The file that says where the daemon of a state folder listens: written when it listens, removed when it stops.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";

/** Unknown fields are ignored, because another version may have written the file. */
const DaemonFile = z.object({
  pid: z.int().positive(),
  /** When the process started, as the system reports it. Pids are reused; a pid with its start is not. */
  process_start: z.string(),
  url: z.url({ protocol: /^https?$/ }),
  /** A new random id at every start. */
  instance: z.string().min(1),
  started_at: z.int(),
  version: z.string(),
  /** The daemon's certificate as PEM. A client that read this file trusts this certificate and no other. */
  certificate: z.string().optional(),
  /** The process is a command that serves others while it does its own work. */
  command: z.boolean().optional(),
});
export type DaemonFile = z.infer<typeof DaemonFile>;

const pathIn = (folder: string): string => join(folder, "daemon.json");

/**
 * Returns undefined if there is no file or it cannot be understood: then no daemon can be found by it. Throws `refused` for a
 * file that another user may have planted, since the admin key is sent where the file says.
 */
export function readDaemonFile(folder: string): DaemonFile | undefined {
  return DaemonFile.safeParse(parseJson(readPrivateFile(pathIn(folder)) ?? "")).data;
}

export function writeDaemonFile(folder: string, file: DaemonFile): void {
  replacePrivateFile(pathIn(folder), `${JSON.stringify(file, null, 2)}\n`);
}

/** Removes the file only if it was written for this instance. */
export function removeDaemonFile(folder: string, instance: string): void {
  if (readDaemonFile(folder)?.instance === instance) rmSync(pathIn(folder), { force: true });
}
