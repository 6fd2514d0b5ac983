// Runs a program with a folder that is a really small file system, which the test can fill and empty from outside.

import { closeSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

/** The command line that runs `command` with a file system of `bytes` at `folder`, which has to exist. */
export function onSmallDisk(folder: string, bytes: number, command: readonly string[]): [string, string[]] {
  const all = ["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"];
  return ["bwrap", [...all, "--size", String(bytes), "--tmpfs", folder, "--die-with-parent", "--", ...command]];
}

/** The process that bubblewrap, whose process id is given, runs the program in. */
export function insideOf(bwrap: number): number {
  return Number(readFileSync(`/proc/${bwrap}/task/${bwrap}/children`, "utf8").trim().split(" ")[0]);
}

/** A path as the process sees it. */
export function seenBy(pid: number, path: string): string {
  return join("/proc", String(pid), "root", path);
}

const largestBytes = 64 * 1024 * 1024;

/** Fills the small file system of the folder to its last byte; returns how to make room again. Refuses to fill a real disk. */
export function fillDisk(folder: string): { readonly topUp: () => void; readonly empty: () => void } {
  const { bsize, blocks } = statfsSync(folder);
  if (bsize * blocks > largestBytes) throw new Error(`${folder} is not on a small file system`);
  const ballast = join(folder, "ballast");
  const topUp = (): void => {
    const file = openSync(ballast, "a");
    try {
      for (let size = 1024 * 1024; size >= 1;) {
        try {
          if (writeSync(file, Buffer.alloc(size)) < size) throw new Error("short");
        } catch {
          size = Math.floor(size / 4);
        }
      }
    } finally {
      closeSync(file);
    }
  };
  topUp();
  return { topUp, empty: () => rmSync(ballast) };
}
