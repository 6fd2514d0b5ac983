// Watches how much room is left on the disk of the state folder, so that new work is refused before the disk is full.

import { statfsSync } from "node:fs";

import { TuttiError } from "../../protocol/error.ts";

const mebibyte = 1024 * 1024;
/** Less than this must be free before new work is refused; on a small disk, one percent of the disk. */
const defaultMinFreeBytes = 200 * mebibyte;
/** The disk is looked at no more often than this. A fast writer gets no further than this far below the limit. */
const lookEveryMs = 200;

export interface DiskSpaceOptions {
  /** Overrides the default; 0 means that the disk may be filled. */
  readonly minFreeBytes?: number | undefined;
  readonly now?: () => number;
}

/** Returns why no new work is taken: too little of the folder's disk is free. Running tasks use the room that is left. */
export function watchDiskSpace(folder: string, options: DiskSpaceOptions = {}): () => TuttiError | undefined {
  const { minFreeBytes, now = Date.now } = options;
  let lookedAt = -Infinity;
  let problem: TuttiError | undefined;
  return () => {
    const at = now();
    // A clock that was set back must not put off the next look.
    if (at - lookedAt >= lookEveryMs || at < lookedAt) {
      lookedAt = at;
      problem = lookAt(folder, minFreeBytes);
    }
    return problem;
  };
}

/** How many bytes must be free for new work; undefined when the system does not tell how large the disk is. */
export function neededSpace(folder: string, minFreeBytes: number | undefined): number | undefined {
  const disk = spaceOf(folder);
  return disk === undefined ? undefined : Math.ceil(minFreeBytes ?? defaultFor(disk.total));
}

function defaultFor(total: number): number {
  return Math.min(defaultMinFreeBytes, total / 100);
}

function lookAt(folder: string, minFreeBytes: number | undefined): TuttiError | undefined {
  const disk = spaceOf(folder);
  if (disk === undefined) return undefined;
  const min = minFreeBytes ?? defaultFor(disk.total);
  if (disk.free >= min) return undefined;
  const [free, wanted] = [inMebibytes(disk.free), inMebibytes(min)];
  const message = `the disk of ${folder} is almost full: ${free} MiB are free, and new work needs ${wanted} MiB; free some space. Running tasks go on`;
  return new TuttiError("disk_full", message, { details: { free_bytes: disk.free, min_free_bytes: Math.ceil(min) } });
}

/** Returns undefined if the system does not tell: then only a write that fails shows that the disk is full. */
function spaceOf(folder: string): { readonly free: number; readonly total: number } | undefined {
  try {
    const { bsize, bavail, blocks } = statfsSync(folder);
    return blocks === 0 ? undefined : { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return undefined;
  }
}

const inMebibytes = (bytes: number): string => (bytes / mebibyte).toFixed(bytes < 10 * mebibyte ? 1 : 0);
