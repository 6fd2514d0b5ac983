// Whether a folder may hold keys: it must be ours, and nobody else may be able to put files into it or exchange it.

import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { othersMayWrite } from "./others-may-write.ts";

const sticky = 0o1000;

/**
 * Throws `refused` when another user could plant files in the folder, such as a `daemon.json` that sends our key to them.
 * A folder that does not exist yet is made for its owner alone, so only the folders above it matter.
 */
export function refuseSharedFolder(folder: string): void {
  const problem = folderProblem(folder);
  if (problem !== undefined) throw new TuttiError("refused", problem);
}

function folderProblem(folder: string): string | undefined {
  const me = process.getuid?.();
  // Windows has no such bits: what it reports says nothing about who may write.
  if (me === undefined) return undefined;
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return ancestorProblem(futurePath(resolve(folder)), me);
  if (!found.isDirectory()) return undefined;
  if (found.uid !== me) {
    return `the folder ${folder} belongs to another user, who could plant files in it; choose a folder of your own with --state`;
  }
  if (othersMayWrite(found)) {
    return `other users can write to the folder ${folder} and could plant files in it; run \`chmod go-w ${folder}\` and look at what is in it, or choose another with --state`;
  }
  return ancestorProblem(realpathSync(folder), me);
}

/** The path that a folder will have, without links in the part of it that exists. */
function futurePath(folder: string): string {
  const parent = dirname(folder);
  return join(existsSync(parent) ? realpathSync(parent) : futurePath(parent), basename(folder));
}

/** Whoever can rename an ancestor can put another folder in the place of ours. A sticky folder such as /tmp prevents that. */
function ancestorProblem(folder: string, me: number): string | undefined {
  for (let at = dirname(folder); ; at = dirname(at)) {
    const found = statSync(at, { throwIfNoEntry: false });
    const open = found !== undefined && othersMayWrite(found) && (found.mode & sticky) === 0;
    if (open || (found !== undefined && found.uid !== me && found.uid !== 0)) {
      return `other users can exchange ${folder}, because ${open ? "others can write to" : "another user owns"} ${at}; choose another folder with --state`;
    }
    if (at === dirname(at)) return undefined;
  }
}
