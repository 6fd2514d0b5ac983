// Runs a command as an ordinary user, for what root may always do. Without root, the user of the tests is one already.

import { spawnSync } from "node:child_process";
import { chownSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { Ended } from "./cli-process.ts";

const nobody = 65534;
const program = join(import.meta.dirname, "ordinary-user-process.ts");
const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");

export interface OrdinaryCommand {
  readonly args: readonly string[];
  /** The current folder and the home of the command; see `giveToOrdinaryUser`. */
  readonly folder: string;
  /** A command that loads the same code and succeeds: root runs it first, because the user may not read the checkout. */
  readonly loads: readonly string[];
}

export function asOrdinaryUser({ args, folder, loads }: OrdinaryCommand): Ended {
  const isRoot = process.getuid?.() === 0;
  const command = isRoot ? [program, JSON.stringify({ args, loads, uid: nobody })] : [bin, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: folder,
    encoding: "utf8",
    input: "",
    timeout: 240_000,
    env: { ...process.env, HOME: folder, NO_COLOR: "1" },
  });
  if (!isRoot) return { status, out: stdout, err: stderr };
  return { status, out: afterMark(stdout), err: afterMark(stderr) };
}

/** Gives the folder and everything in it to the user; only root can, and has to. */
export function giveToOrdinaryUser(folder: string): void {
  if (process.getuid?.() !== 0) return;
  for (const entry of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) {
    chownSync(join(folder, entry), nobody, nobody);
  }
}

/** Written between the output of root's command and that of the user's. */
export const userMark = "-- as an ordinary user --\n";

function afterMark(text: string): string {
  const at = text.indexOf(userMark);
  return at === -1 ? `root's command failed: ${text}` : text.slice(at + userMark.length);
}
