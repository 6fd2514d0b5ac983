// Ends all processes that belong to a step of ours and no others: asks them to end first, then kills them.

import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";

/** The environment variable of every process of a step. Its value is the step's idempotency key. */
export const stepVariable = "TUTTI_STEP";

/** Identifies a process so that it can be found again after a restart. It leads a POSIX session and a process group of its own. */
export const ProcessNote = z.object({
  pid: z.int().min(2),
  start: z.string().min(1),
  group: z.int().min(2),
  step: z.string(),
});
export type ProcessNote = z.infer<typeof ProcessNote>;

export const defaultGraceMs = 2_000;
/** A killed process is gone at once unless it is blocked inside the kernel. */
const defaultKillWaitMs = 5_000;
const pollMs = 20;

export interface EndOptions {
  /** The time between asking and killing. */
  readonly graceMs?: number;
  readonly killWaitMs?: number;
  readonly table?: ProcessTable;
}

/** Returns how many processes there were, and the pids of those that are still there although they were killed. */
export async function endProcesses(
  note: ProcessNote,
  { graceMs = defaultGraceMs, killWaitMs = defaultKillWaitMs, table = processTable }: EndOptions = {},
): Promise<{ readonly found: number; readonly left: readonly number[] }> {
  let members = await membersOf(note, table);
  const found = members.length;
  if (found > 0 && graceMs > 0) {
    signal(members, "SIGTERM");
    for (const until = performance.now() + graceMs; members.length > 0 && performance.now() < until;) {
      await sleep(Math.min(pollMs, graceMs));
      members = await membersOf(note, table);
    }
  }
  // A process that is forked meanwhile is found in the next round.
  for (const until = performance.now() + killWaitMs; members.length > 0 && performance.now() < until;) {
    signal(members, "SIGKILL");
    await sleep(pollMs);
    members = await membersOf(note, table);
  }
  return { found, left: members.map((member) => member.pid) };
}

/**
 * The system does not reuse a pid that still names a POSIX session or a group. So if the leader has another start time, all of
 * our processes are gone, and if one member is certainly ours, all members are.
 */
async function membersOf({ pid, start, step }: ProcessNote, table: ProcessTable): Promise<ProcessEntry[]> {
  const members = (await table.list()).filter((entry) => entry.group === pid || entry.session === pid);
  const leader = members.find((entry) => entry.pid === pid);
  const ours =
    leader === undefined
      ? members.some((entry) => table.hasVariable(entry.pid, stepVariable, step))
      : leader.start === start;
  return ours ? members.filter((entry) => !entry.ended) : [];
}

function signal(members: readonly ProcessEntry[], name: "SIGTERM" | "SIGKILL"): void {
  for (const group of new Set(members.map((member) => member.group))) {
    try {
      process.kill(-group, name);
    } catch {
      // It has ended meanwhile, or we may not signal it; the next round shows which.
    }
  }
}
