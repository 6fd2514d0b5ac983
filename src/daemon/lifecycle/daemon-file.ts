// The file by which the daemon of a state folder is found: written when it listens, removed when it no longer does.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

/** Fields nobody knows are ignored: another version may have written it. */
const DaemonFile = z.object({
  pid: z.int().positive(),
  /** The start of the process as the system tells it: with the pid it names one process for good. */
  process_start: z.string(),
  url: z.url({ protocol: /^https?$/ }),
  /** Made anew at every start. */
  instance: z.string().min(1),
  started_at: z.int(),
  version: z.string(),
  /** The certificate it shows, PEM: who finds it here trusts exactly this one. */
  certificate: z.string().optional(),
});
export type DaemonFile = z.infer<typeof DaemonFile>;

const pathIn = (folder: string): string => join(folder, "daemon.json");

/** Undefined when there is none, or none that can be read: it only says where to look. */
export function readDaemonFile(folder: string): DaemonFile | undefined {
  try {
    return DaemonFile.safeParse(JSON.parse(readFileSync(pathIn(folder), "utf8"))).data;
  } catch {
    return undefined;
  }
}

/** Whole or not at all, for its owner alone. */
export function writeDaemonFile(folder: string, file: DaemonFile): void {
  const draft = `${pathIn(folder)}.${file.instance}`;
  try {
    const descriptor = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(descriptor, `${JSON.stringify(file, null, 2)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, pathIn(folder));
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
}

/** Only the one that was written for this instance. */
export function removeDaemonFile(folder: string, instance: string): void {
  if (readDaemonFile(folder)?.instance === instance) rmSync(pathIn(folder), { force: true });
}
