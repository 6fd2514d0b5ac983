// A clock that all processes of the machine share and nobody can set. On Linux it also counts the time in which the machine was suspended.

import { readFileSync } from "node:fs";

/**
 * Milliseconds since a moment that is the same for all processes of the machine. The clock of Node stands still while a
 * Linux machine is suspended, and the leases that the database keeps do not.
 */
export function elapsedMs(): number {
  const sinceBoot = process.platform === "linux" ? secondsSinceBoot() : undefined;
  return sinceBoot === undefined ? Number(process.hrtime.bigint() / 1_000n) / 1_000 : sinceBoot * 1_000;
}

/** Undefined where /proc is not there; it is or is not for all processes of a node alike. */
function secondsSinceBoot(): number | undefined {
  try {
    const seconds = Number(readFileSync("/proc/uptime", "latin1").split(" ")[0]);
    return Number.isFinite(seconds) ? seconds : undefined;
  } catch {
    return undefined;
  }
}
