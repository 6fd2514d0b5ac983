// Says whether another user of this machine could change a file or a folder, by its owner and its mode.

import { type Stats, statSync } from "node:fs";

import { thrownMessage } from "../protocol/error.ts";
import { othersMayWrite } from "./others-may-write.ts";

const sticky = 0o1000;

/**
 * What is wrong with the path and what to do about it; undefined when only the user and root can change it, or when it does
 * not exist. Windows has neither owners nor modes of this kind, so nothing is wrong there.
 */
export function strangerProblem(path: string): string | undefined {
  let found: Stats | undefined;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    return `${path} cannot be examined: ${thrownMessage(thrown)}`;
  }
  const user = process.geteuid?.();
  if (found === undefined || user === undefined) return undefined;
  if (found.uid !== user && found.uid !== 0) {
    return `${path} belongs to another user (uid ${found.uid}), who could change what it does; use only files of your own, or take it over with chown`;
  }
  if (!othersMayWrite(found)) return undefined;
  return `${path} can be changed by other users; run: chmod go-w ${path}`;
}

/** A folder for everybody's files, such as /tmp: nothing in it is there because of the folder. */
export function isSharedFolder(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return process.geteuid !== undefined && (mode & sticky) !== 0 && (mode & 0o002) !== 0;
}
