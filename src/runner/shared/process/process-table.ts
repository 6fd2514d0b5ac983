// The processes of this machine as the system tells them: pid and start time together name one process for good.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

export interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  /** Undefined where the system does not tell it. */
  readonly session: number | undefined;
  /** Compared, never read: a pid that was given to another process has another start. */
  readonly start: string;
  /** Ended, and not yet fetched by its parent: it does nothing any more, but its pid is still taken. */
  readonly ended: boolean;
}

export interface ProcessTable {
  list(): Promise<ProcessEntry[]>;
  start(pid: number): Promise<string | undefined>;
  /** Whether it was started with this variable; false when the system does not tell. */
  hasVariable(pid: number, name: string, value: string): boolean;
}

/** Whoever asks in the same tick gets the same reading, which begins after all of them have asked. */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let coming: Promise<T> | undefined;
  return () =>
    (coming ??= Promise.resolve().then(() => {
      coming = undefined;
      return read();
    }));
}

/** @internal Exported for its tests only. */
export const linuxProcesses: ProcessTable = {
  list: shared(async () =>
    readdirSync("/proc").flatMap((name) => {
      const entry = /^\d+$/.test(name) ? linuxEntry(Number(name)) : undefined;
      return entry === undefined ? [] : [entry];
    }),
  ),
  start: async (pid) => linuxEntry(pid)?.start,
  hasVariable: (pid, name, value) =>
    readOrNothing(`/proc/${pid}/environ`)?.split("\0").includes(`${name}=${value}`) === true,
};

/** Ticks since the boot mean something only together with the boot. */
let boot: string | undefined;

function linuxEntry(pid: number): ProcessEntry | undefined {
  const stat = readOrNothing(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in brackets may hold anything, brackets and blanks too; the numbers begin after the last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, , group, session] = fields;
  const ticks = fields[19];
  if (state === undefined || ticks === undefined) return undefined;
  boot ??= readOrNothing("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  const ended = state === "Z" || state === "X";
  return { pid, group: Number(group), session: Number(session), start: `${boot}/${ticks}`, ended };
}

/** A process may end while we read about it, or belong to somebody else. */
function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

const run = promisify(execFile);
/** Start times are printed as local time, in the local language. */
const plainTime = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
const psColumns = ["pid=", "pgid=", "stat=", "lstart="].flatMap((column) => ["-o", column]);

/** @internal Exported for its tests only. */
export const psProcesses: ProcessTable = {
  list: shared(() => psEntries(["-A", ...psColumns])),
  start: async (pid) => (await psEntries(["-p", String(pid), ...psColumns])).find((entry) => entry.pid === pid)?.start,
  hasVariable: () => false,
};

async function psEntries(args: readonly string[]): Promise<ProcessEntry[]> {
  // It ends with status 1 when no process matches; what it printed counts.
  const { stdout } = await run("ps", args, { env: plainTime, maxBuffer: 2 ** 26 }).catch((failed: unknown) => ({
    stdout: failed instanceof Error && "stdout" in failed ? String(failed.stdout) : "",
  }));
  return stdout.split("\n").flatMap((line) => {
    const [, pid, group, state, start] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*$/.exec(line) ?? [];
    if (state === undefined || start === undefined) return [];
    return [{ pid: Number(pid), group: Number(group), session: undefined, start, ended: state.startsWith("Z") }];
  });
}

export const processTable = process.platform === "linux" ? linuxProcesses : psProcesses;
