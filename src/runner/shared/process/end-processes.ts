// Ends all processes that belong to steps of ours and no others: asks them to end first, then kills them.

import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { groupMembers, killGroup, removeGroup } from "./run-cgroup.ts";
import { type ProcessEntry, processPlace, type ProcessTable, processTable } from "./process-table.ts";

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
  /** Where the pid means this process; see `processPlace`. Absent in notes of older versions, which are of this place. */
  place: z.string().optional(),
});
export type ProcessNote = z.infer<typeof ProcessNote>;

export const defaultGraceMs = 2_000;
/** A killed process is gone at once unless it is blocked inside the kernel. */
const defaultKillWaitMs = 5_000;
const pollMs = 20;
/** Processes that fork faster than they are counted are looked for without a pause, so often. */
const quickRounds = 200;

export interface EndOptions {
  /** The time between asking and killing. */
  readonly graceMs?: number;
  readonly killWaitMs?: number;
  /**
   * How many looks in a row must find nothing, one when absent. Processes that start each other and end are in no list
   * that was made a moment ago.
   */
  readonly looks?: number;
  readonly table?: ProcessTable;
  /** Where the table is of; here when absent. */
  readonly place?: string;
}

/** The processes to end. Nothing is ended twice, whichever of these names it. */
export interface EndedProcesses {
  readonly notes: readonly ProcessNote[];
  /** A variable, as `NAME=value`, that all processes of one kind were started with. */
  readonly mark?: string | undefined;
  /** All descendants of this process are ended, but not the process itself. */
  readonly below?: { readonly pid: number; readonly start: string } | undefined;
}

export interface Ended {
  /** How many processes there were. */
  readonly found: number;
  /** The pids of those that are still there although they were killed. */
  readonly left: readonly number[];
}

export function endProcesses(note: ProcessNote, options?: EndOptions): Promise<Ended> {
  return endAllProcesses({ notes: [note] }, options);
}

/** What was noted elsewhere names other processes here, so it is left alone: the node there ended it before it was lost. */
export async function endAllProcesses(wanted: EndedProcesses, options: EndOptions = {}): Promise<Ended> {
  const { graceMs = defaultGraceMs, killWaitMs = defaultKillWaitMs, looks = 1, table = processTable } = options;
  const { place: here = processPlace() } = options;
  const ending = { ...wanted, notes: wanted.notes.filter(({ place = here }) => place === here) };
  let members = await membersOf(ending, table);
  const found = members.length;
  if (found > 0 && graceMs > 0) {
    signal(members, "SIGTERM");
    for (const until = performance.now() + graceMs; members.length > 0 && performance.now() < until;) {
      await sleep(Math.min(pollMs, graceMs));
      members = await membersOf(ending, table);
    }
  }
  // A process that is forked meanwhile is found in the next round.
  const until = performance.now() + killWaitMs;
  let empty = members.length === 0 ? 1 : 0;
  for (let round = 0; empty < looks && performance.now() < until; round += 1) {
    for (const { cgroup } of ending.notes) if (cgroup !== undefined) killGroup(cgroup);
    const seen = killAtSight(ending, table);
    signal(members, "SIGKILL");
    await sleep(round < quickRounds ? 1 : pollMs);
    members = await membersOf(ending, table);
    empty = members.length === 0 && seen === 0 ? empty + 1 : 0;
  }
  for (const { cgroup } of ending.notes) removeGroup(cgroup);
  return { found, left: members.map((member) => member.pid) };
}

/** Whether any process that the note tells of has not ended. */
export async function isAnyLeft(note: ProcessNote, table: ProcessTable = processTable): Promise<boolean> {
  return (await membersOf({ notes: [note] }, table)).length > 0;
}

/**
 * All processes of the steps that have not ended. Those that left the session of their leader are found by the control
 * group, by the step's variable in their environment, and as children of any process found.
 */
async function membersOf({ notes, mark, below }: EndedProcesses, table: ProcessTable): Promise<ProcessEntry[]> {
  const all = await table.list();
  const grouped = new Set(notes.flatMap(({ cgroup }) => groupMembers(cgroup)));
  const members = new Set(notes.flatMap((note) => sessionMembers(note, all, table)));
  const kept = new Set([process.pid, ...(below === undefined ? [] : [below.pid])]);
  for (const entry of all) {
    if (kept.has(entry.pid)) continue;
    if (grouped.has(entry.pid) || (below !== undefined && isChildOf(entry, below, all))) members.add(entry);
    else if (!entry.ended && isMarked(entry, { notes, mark }, table)) members.add(entry);
  }
  addChildren(members, all);
  return [...members].filter((entry) => !entry.ended && !kept.has(entry.pid));
}

/** A process of a step cannot be older than its leader, so the environment of older ones is not read. */
function isMarked(
  entry: Pick<ProcessEntry, "pid" | "start">,
  { notes, mark }: Pick<EndedProcesses, "notes" | "mark">,
  table: ProcessTable,
): boolean {
  const possible = notes.filter((note) => isNotOlder(entry, note.start));
  if (possible.length === 0 && mark === undefined) return false;
  const variables = new Set(table.environment(entry.pid));
  return (mark !== undefined && variables.has(mark)) || possible.some((note) => variables.has(variableOf(note)));
}

function variableOf({ step }: Pick<ProcessNote, "step">): string {
  return `${stepVariable}=${step}`;
}

function isChildOf(entry: ProcessEntry, { pid, start }: { pid: number; start: string }, all: readonly ProcessEntry[]) {
  return entry.parent === pid && all.some((each) => each.pid === pid && each.start === start);
}

/**
 * The system does not reuse a pid that still names a POSIX session or a group. So if the leader has another start time, all of
 * our processes are gone, and if one member is certainly ours, all members are.
 */
function sessionMembers(note: ProcessNote, all: readonly ProcessEntry[], table: ProcessTable): ProcessEntry[] {
  const { pid, start } = note;
  const members = all.filter((entry) => entry.group === pid || entry.session === pid);
  const leader = members.find((entry) => entry.pid === pid);
  const ours =
    leader === undefined
      ? members.some((entry) => table.environment(entry.pid).includes(variableOf(note)))
      : leader.start === start;
  return ours ? members : [];
}

/** Start times on Linux are a boot and ticks since then. Times that cannot be compared count as not older. */
function isNotOlder({ start }: Pick<ProcessEntry, "start">, since: string): boolean {
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

/**
 * A chain of processes, each of which starts the next one and ends, is faster than a list of all processes. The newest
 * ones are looked at first, and each of ours is killed in the moment in which it is seen. Returns how many were.
 */
function killAtSight({ notes, mark, below }: EndedProcesses, table: ProcessTable): number {
  const wanted = new Set([...notes.map(variableOf), ...(mark === undefined ? [] : [mark])]);
  let seen = 0;
  for (const pid of table.newest()) {
    if (pid === process.pid || pid === below?.pid) continue;
    if (!table.environment(pid).some((variable) => wanted.has(variable))) continue;
    kill(pid, "SIGKILL");
    seen += 1;
  }
  return seen;
}

/** One by one: a process that detached itself may have a group that others joined. */
function signal(members: readonly ProcessEntry[], name: "SIGTERM" | "SIGKILL"): void {
  for (const { pid } of members) kill(pid, name);
}

function kill(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile, or we may not signal it; the next round shows which.
  }
}
