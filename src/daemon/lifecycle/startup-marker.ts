// A file that says that a daemon is starting: whoever finds the state folder in use knows that waiting is worthwhile.

import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readOptionalFile } from "../../files/read-optional-file.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { isRunning, ownProcess } from "./process-identity.ts";

/** Also holds the lock under which processes start a daemon one after the other. */
export const startFolder = (folder: string): string => join(folder, "start");

const ending = ".starting";
const markerOf = (folder: string, pid: number): string => join(startFolder(folder), `${pid}${ending}`);

/** Returns a function that removes the marker. Also removes the markers that killed processes left behind. */
export async function writeStartupMarker(folder: string): Promise<() => void> {
  makeFolder(startFolder(folder));
  for (const name of readdirSync(startFolder(folder)).filter((each) => each.endsWith(ending))) {
    const pid = Number(name.slice(0, -ending.length));
    if (!(await isStarting(folder, pid))) rmSync(markerOf(folder, pid), { force: true });
  }
  const { pid, start } = await ownProcess();
  writeFileSync(markerOf(folder, pid), start, { mode: 0o600 });
  return () => rmSync(markerOf(folder, pid), { force: true });
}

export async function isStarting(folder: string, pid: number): Promise<boolean> {
  const start = readOptionalFile(markerOf(folder, pid));
  return start !== undefined && isRunning({ pid, start });
}
