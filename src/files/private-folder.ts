// Whether a folder may hold keys: it must be ours, and nobody else may be able to put files into it or exchange it.

import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { othersMayWrite } from "./others-may-write.ts";

const writableByAnybody = 0o002;
const sticky = 0o1000;

/**
 * Throws `refused` when another user could plant files in the folder, such as a `daemon.json` that sends our key to them.
 * A folder that does not exist yet is fine: it is made for its owner alone.
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
  if (found === undefined || !found.isDirectory()) return undefined;
  if (found.uid !== me) {
    return `the folder ${folder} belongs to another user, who could plant files in it; choose a folder of your own with --state`;
  }
  if (othersMayWrite(found)) {
    return `other users can write to the folder ${folder} and could plant files in it; run \`chmod go-w ${folder}\` and look at what is in it, or choose another with --state`;
  }
  return ancestorProblem(realpathSync(folder), me);
}

/** Whoever can rename an ancestor can put another folder in the place of ours. A sticky folder such as /tmp prevents that. */
function ancestorProblem(folder: string, me: number): string | undefined {
  for (let at = dirname(folder); ; at = dirname(at)) {
    const { uid, mode } = statSync(at);
    const open = (mode & writableByAnybody) !== 0 && (mode & sticky) === 0;
    if (open || (uid !== me && uid !== 0)) {
      return `other users can exchange ${folder}, because ${open ? "anybody can write to" : "another user owns"} ${at}; choose another folder with --state`;
    }
    if (at === dirname(at)) return undefined;
  }
}
