// Lists the processes of this machine. A pid together with a start time identifies one process for good.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { promisify } from "node:util";

import { ownEnvironment } from "../../../files/own-environment.ts";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The POSIX session of the process; undefined when the system does not report it. */
  readonly session: number | undefined;
  /** Opaque, only compared: when a pid is reused, the new process has another start time. */
  readonly start: string;
  /** A zombie: it has ended and does nothing any more, but its parent has not collected it, so its pid is still taken. */
  readonly ended: boolean;
}

export interface ProcessTable {
  list(): Promise<ProcessEntry[]>;
  start(pid: number): Promise<string | undefined>;
  /** The variables that the process was started with, each as `NAME=value`; none when the system does not report them. */
  environment(pid: number): readonly string[];
  /** The pids of the newest processes, the newest first; none when the system does not report them quickly. */
  newest(): readonly number[];
}

/** Calls in the same tick share one reading, which begins after all of them were made. */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () =>
    (pending ??= Promise.resolve().then(() => {
      pending = undefined;
      return read();
    }));
}

const mostNewest = 64;

/** @internal Exported for its tests only. */
export const linuxProcesses: ProcessTable = {
  list: shared(async () =>
    readdirSync("/proc").flatMap((name) => {
      const entry = /^\d+$/.test(name) ? linuxEntry(Number(name)) : undefined;
      return entry === undefined ? [] : [entry];
    }),
  ),
  start: async (pid) => linuxEntry(pid)?.start,
  environment: (pid) => readIfPossible(`/proc/${pid}/environ`)?.split("\0") ?? [],
  newest: () => {
    const pids = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
    return pids.toSorted((one, other) => other - one).slice(0, mostNewest);
  },
};

/** Start times are ticks since the boot, so they identify a process only together with the boot. */
let boot: string | undefined;

function linuxEntry(pid: number): ProcessEntry | undefined {
  const stat = readIfPossible(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may itself contain parentheses and spaces; the numbers begin after the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  const ticks = fields[19];
  if (state === undefined || ticks === undefined) return undefined;
  boot ??= readIfPossible("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  const ended = state === "Z" || state === "X";
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: `${boot}/${ticks}`,
    ended,
  };
}

let here: string | undefined;

/**
 * Names the place where a pid of ours means a process: on Linux this boot of this machine and the container, elsewhere
 * the machine by its name. The same pid in another place is another process.
 */
export function processPlace(): string {
  return (here ??= process.platform === "linux" ? linuxPlace() : hostname());
}

function linuxPlace(): string {
  let container = "";
  try {
    container = readlinkSync("/proc/self/ns/pid");
  } catch {
    // A system that hides it has one place.
  }
  return `${readIfPossible("/proc/sys/kernel/random/boot_id")?.trim() ?? hostname()} ${container}`;
}

/** Undefined when the process has ended meanwhile or belongs to somebody else. */
function readIfPossible(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

const run = promisify(execFile);
/** `ps` prints start times in the local time and language, so both are fixed. */
const plainTime = { ...ownEnvironment(), TZ: "UTC" };
const psColumns = ["pid=", "ppid=", "pgid=", "stat=", "lstart="].flatMap((column) => ["-o", column]);

/** @internal Exported for its tests only. */
export const psProcesses: ProcessTable = {
  list: shared(() => psEntries(["-A", ...psColumns])),
  start: async (pid) => (await psEntries(["-p", String(pid), ...psColumns])).find((entry) => entry.pid === pid)?.start,
  environment: () => [],
  newest: () => [],
};

async function psEntries(args: readonly string[]): Promise<ProcessEntry[]> {
  // `ps` ends with status 1 when no process matches; its output is still valid.
  const { stdout } = await run("ps", args, { env: plainTime, maxBuffer: 2 ** 26 }).catch((failed: unknown) => ({
    stdout: failed instanceof Error && "stdout" in failed ? String(failed.stdout) : "",
  }));
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, group, state, start] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*$/.exec(line) ?? [];
    if (state === undefined || start === undefined) return [];
    const ended = state.startsWith("Z");
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: undefined, start, ended }];
  });
}

export const processTable = process.platform === "linux" ? linuxProcesses : psProcesses;
