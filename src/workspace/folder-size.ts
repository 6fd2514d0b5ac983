// How much room a folder takes on disk.

import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

const atOnce = 32;

/** In bytes, as the file system counts them. Links are not followed; what vanishes meanwhile is not counted. */
export async function folderSize(folder: string, signal?: AbortSignal): Promise<number> {
  let bytes = 0;
  const waiting = [folder];
  const measure = async (path: string): Promise<void> => {
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) return;
    bytes += found.blocks * 512;
    if (!found.isDirectory()) return;
    for (const name of await readdir(path).catch(() => [])) waiting.push(join(path, name));
  };
  while (waiting.length > 0) {
    signal?.throwIfAborted();
    await Promise.all(waiting.splice(-atOnce).map(measure));
  }
  return bytes;
}
