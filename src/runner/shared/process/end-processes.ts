// Ends all processes of one session that we started, and nobody else's: asked first, then killed.

import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";

/** The variable every process of a step is started with. Its value is the step's idempotency key. */
export const stepVariable = "TUTTI_STEP";

/** Who a process is, for a later process of ours to find it again. It leads a session and a group of its own. */
export const ProcessNote = z.object({
  pid: z.int().min(2),
  start: z.string().min(1),
  group: z.int().min(2),
  step: z.string(),
});
export type ProcessNote = z.infer<typeof ProcessNote>;

export const defaultGraceMs = 2_000;
/** A killed process is gone at once unless the system itself holds it. */
const defaultKillWaitMs = 5_000;
const lookEveryMs = 20;

export interface EndOptions {
  /** Between asking and killing. */
  readonly graceMs?: number;
  readonly killWaitMs?: number;
  readonly table?: ProcessTable;
}

/** Returns the processes that were ended and those that are still there although they were killed. */
export async function endProcesses(
  note: ProcessNote,
  { graceMs = defaultGraceMs, killWaitMs = defaultKillWaitMs, table = processTable }: EndOptions = {},
): Promise<{ readonly found: number; readonly left: readonly number[] }> {
  let members = await membersOf(note, table);
  const found = members.length;
  if (found > 0 && graceMs > 0) {
    signal(members, "SIGTERM");
    for (const until = performance.now() + graceMs; members.length > 0 && performance.now() < until;) {
      await sleep(Math.min(lookEveryMs, graceMs));
      members = await membersOf(note, table);
    }
  }
  // One that is being born while we look is caught by the next look.
  for (const until = performance.now() + killWaitMs; members.length > 0 && performance.now() < until;) {
    signal(members, "SIGKILL");
    await sleep(lookEveryMs);
    members = await membersOf(note, table);
  }
  return { found, left: members.map((member) => member.pid) };
}

/**
 * A number that still names a session or group is not given to a new process. So a leader with another start means that
 * ours are all gone, and one member that is surely ours means that all are.
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
      // Gone meanwhile, or not ours to end: the next look tells which.
    }
  }
}
