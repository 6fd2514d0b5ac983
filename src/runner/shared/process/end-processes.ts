// Ends all processes that belong to a step of ours and no others: asks them to end first, then kills them.

import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { groupMembers, killGroup, removeGroup } from "./run-cgroup.ts";
import { type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";

/** The environment variable of every process of a step. Its value is the step's idempotency key. */
export const stepVariable = "TUTTI_STEP";

/** Identifies a process so that it can be found again after a restart. It leads a POSIX session and a process group of its own. */
export const ProcessNote = z.object({
  pid: z.int().min(2),
  start: z.string().min(1),
  group: z.int().min(2),
  step: z.string(),
  /** The folder of its control group, where there is one. */
  cgroup: z.string().optional(),
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
    if (note.cgroup !== undefined) killGroup(note.cgroup);
    signal(members, "SIGKILL");
    await sleep(pollMs);
    members = await membersOf(note, table);
  }
  removeGroup(note.cgroup);
  return { found, left: members.map((member) => member.pid) };
}

/**
 * All processes of the step that have not ended. Those that left the session of their leader are found by the control
 * group, by the step's variable in their environment, and as children of any process found.
 */
async function membersOf(note: ProcessNote, table: ProcessTable): Promise<ProcessEntry[]> {
  const all = await table.list();
  const grouped = new Set(groupMembers(note.cgroup));
  const members = new Set(sessionMembers(note, all, table));
  for (const entry of all) {
    if (grouped.has(entry.pid)) members.add(entry);
    // A process of the step cannot be older than the leader, so the environment of older ones is not read.
    else if (!entry.ended && entry.pid !== process.pid && isNotOlder(entry, note.start)) {
      if (table.hasVariable(entry.pid, stepVariable, note.step)) members.add(entry);
    }
  }
  addChildren(members, all);
  return [...members].filter((entry) => !entry.ended);
}

/**
 * The system does not reuse a pid that still names a POSIX session or a group. So if the leader has another start time, all of
 * our processes are gone, and if one member is certainly ours, all members are.
 */
function sessionMembers(
  { pid, start, step }: ProcessNote,
  all: readonly ProcessEntry[],
  table: ProcessTable,
): ProcessEntry[] {
  const members = all.filter((entry) => entry.group === pid || entry.session === pid);
  const leader = members.find((entry) => entry.pid === pid);
  const ours =
    leader === undefined
      ? members.some((entry) => table.hasVariable(entry.pid, stepVariable, step))
      : leader.start === start;
  return ours ? members : [];
}

/** Start times on Linux are a boot and ticks since then. Times that cannot be compared count as not older. */
function isNotOlder({ start }: ProcessEntry, since: string): boolean {
  const [boot, ticks] = start.split("/");
  const [sameBoot, first] = since.split("/");
  if (ticks === undefined || first === undefined) return true;
  return boot === sameBoot && Number(ticks) >= Number(first);
}

function addChildren(members: Set<ProcessEntry>, all: readonly ProcessEntry[]): void {
  const byParent = Map.groupBy(all, ({ parent }) => parent);
  // A set also goes over what is added to it on the way. A process that has ended has no children any more.
  for (const { pid, ended } of members) {
    if (ended || pid === process.pid) continue;
    for (const child of byParent.get(pid) ?? []) members.add(child);
  }
}

/** One by one: a process that detached itself may have a group that others joined. */
function signal(members: readonly ProcessEntry[], name: "SIGTERM" | "SIGKILL"): void {
  for (const { pid } of members) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile, or we may not signal it; the next round shows which.
    }
  }
}
