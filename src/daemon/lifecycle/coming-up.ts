// The sign of a daemon that has not come up yet: who finds the state in use knows by it that waiting is worth it.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { makeFolder } from "../../store/sqlite/database.ts";
import { lives, ownName } from "./living-process.ts";

/** Where those that start a daemon take turns, too. */
export const startFolder = (folder: string): string => join(folder, "start");

const ending = ".coming";
const signOf = (folder: string, pid: number): string => join(startFolder(folder), `${pid}${ending}`);

/** Returns what takes the sign away again. Signs of processes that were killed are swept. */
export async function showComing(folder: string): Promise<() => void> {
  makeFolder(startFolder(folder));
  for (const name of readdirSync(startFolder(folder)).filter((each) => each.endsWith(ending))) {
    const pid = Number(name.slice(0, -ending.length));
    if (!(await isComing(folder, pid))) rmSync(signOf(folder, pid), { force: true });
  }
  const { pid, start } = await ownName();
  writeFileSync(signOf(folder, pid), start, { mode: 0o600 });
  return () => rmSync(signOf(folder, pid), { force: true });
}

export async function isComing(folder: string, pid: number): Promise<boolean> {
  let start: string;
  try {
    start = readFileSync(signOf(folder, pid), "utf8");
  } catch {
    return false;
  }
  return lives({ pid, start });
}
