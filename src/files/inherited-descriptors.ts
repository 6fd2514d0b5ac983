// Descriptors that whoever started Tutti left open: what Tutti starts must not have them, because an open folder leads out of every sandbox.

import { openSync, readdirSync, readFileSync } from "node:fs";

/** Of `fdinfo`, in octal: the descriptor is closed when a program is started. Node sets it for all that it opens itself. */
const closesOnExec = 0o2000000;

let inherited: readonly number[] | undefined;
let nowhere: number | undefined;

/** The open descriptors from 3 on that a program would inherit. On systems other than Linux, Node starts programs without them. */
function inheritable(): readonly number[] {
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((each) => each > 2 && flagsOf(each) % (2 * closesOnExec) < closesOnExec);
  } catch {
    return [];
  }
}

function flagsOf(descriptor: number): number {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return Number.parseInt(flags ?? "0", 8);
  } catch {
    // It is closed already, as the one of the list itself.
    return closesOnExec;
  }
}

/**
 * What the list of a program's own streams is followed by, so that it has none of the inherited descriptors: each of them
 * leads to /dev/null. `used`: how many streams the program has.
 */
export function withoutInherited(used: number): ("ignore" | number)[] {
  inherited ??= inheritable();
  const left = inherited.filter((each) => each >= used);
  if (left.length === 0) return [];
  nowhere ??= openSync("/dev/null", "r+");
  const to = nowhere;
  return Array.from({ length: Math.max(...left) + 1 - used }, (_, at) => (left.includes(at + used) ? to : "ignore"));
}
