// Removes the home folders of sessions whose task is over: they hold copies of logins.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where the homes of sessions are in a state folder. */
export function sessionHomes(state: string): string {
  return join(state, "sessions");
}

/** The name of a home folder: the task and the attempt that began the work. */
export function homeName(task: string, attempt: number): string {
  return `${task}-${attempt}`;
}

/** A task that was canceled while it was stopped, or whose process was killed at its end, leaves its home behind. */
export async function removeOldHomes(homes: string, isOver: (task: string) => Promise<boolean>): Promise<void> {
  const names = await readdir(homes).catch(() => []);
  for (const name of names) {
    const task = /^(.+)-\d+$/.exec(name)?.[1];
    if (task !== undefined && (await isOver(task))) await rm(join(homes, name), { recursive: true, force: true });
  }
}
