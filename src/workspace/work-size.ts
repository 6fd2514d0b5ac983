// Refuses work that is too large to be checked out: a few small objects can stand for billions of files or for terabytes.

import { TuttiError } from "../protocol/error.ts";
import type { ObjectStore, OwnGit } from "./own-git.ts";

export interface WorkLimits {
  /** How many files a commit may have. */
  readonly files: number;
  /** How many bytes of files work may add to what it began with. */
  readonly bytes: number;
}

export const workLimits: WorkLimits = { files: 1_000_000, bytes: 8 * 1024 ** 3 };

export interface SizedWork {
  readonly commit: string;
  /** What the work began with; its files are the person's own and count only once there is more than the limit. */
  readonly base: string;
  readonly objects?: ObjectStore | undefined;
  readonly limits?: WorkLimits | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Git lists the tree file by file, so neither takes memory for all of them, and is ended when there are too many. */
export async function refuseHugeWork(git: OwnGit, work: SizedWork): Promise<void> {
  const { commit, base, limits = workLimits } = work;
  const bytes = await bytesIn(git, commit, work);
  if (bytes <= limits.bytes || bytes - (await bytesIn(git, base, work)) <= limits.bytes) return;
  throw new TuttiError("too_large", `its files have more than ${limits.bytes} bytes more than those it began with`);
}

/** Looks at no file, which is slow in a store whose objects are not packed. */
export async function refuseManyFiles(git: OwnGit, work: Omit<SizedWork, "base">): Promise<void> {
  await listed(git, work, "%(objectmode)");
}

async function bytesIn(git: OwnGit, commit: string, work: SizedWork): Promise<number> {
  let [bytes, size] = [0, 0];
  for (const byte of await listed(git, { ...work, commit }, "%(objectsize:padded)")) {
    if (byte === lineBreak) {
      bytes += size;
      size = 0;
    } else if (byte >= zero && byte <= zero + 9) size = size * 10 + byte - zero;
  }
  return bytes;
}

const lineBreak = 10;
const zero = 48;

/** A line has seven or eight characters; only that of a very large file is longer. */
const lineLength = 8;

async function listed(
  git: OwnGit,
  { commit, objects, signal, limits = workLimits }: Omit<SizedWork, "base">,
  format: string,
): Promise<Buffer> {
  const { stdout, isCut } = await git.run(["ls-tree", "-r", "--full-tree", `--format=${format}`, commit], {
    ...(objects === undefined ? {} : { objects }),
    maxBytes: limits.files * lineLength,
    overflow: "cut",
    signal,
  });
  if (isCut) throw new TuttiError("too_large", `it has more than ${limits.files} files`);
  return stdout;
}
