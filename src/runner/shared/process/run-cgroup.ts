// A control group for the processes of one run, where the system lets us make one: no process can leave it by detaching itself.

import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The folder of a new group in which the process is alone; undefined where there is no writable cgroup v2. */
export function groupFor(pid: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  const parent = ownGroup();
  if (parent === undefined) return undefined;
  const folder = join(parent, `tutti-${randomUUID()}`);
  try {
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  try {
    writeFileSync(join(folder, "cgroup.procs"), String(pid));
    return folder;
  } catch {
    removeGroup(folder);
    return undefined;
  }
}

/** The group of this process, in the hierarchy of version 2. */
function ownGroup(): string | undefined {
  const mount = read("/proc/self/mountinfo")
    ?.split("\n")
    .map((line) => line.split(" "))
    .find((fields) => fields.includes("cgroup2"));
  const own = /^0::(\/.*)$/m.exec(read("/proc/self/cgroup") ?? "")?.[1];
  const [, , , inner, point] = mount ?? [];
  if (own === undefined || inner === undefined || point === undefined) return undefined;
  // In a container only a part of the hierarchy is mounted, and the path of the group begins at its top.
  return join(point, inner !== "/" && own.startsWith(inner) ? own.slice(inner.length) : own);
}

/** Also those of groups that the processes made inside of theirs. Empty when there is no group. */
export function groupMembers(folder: string | undefined): number[] {
  if (folder === undefined) return [];
  const pids = (read(join(folder, "cgroup.procs")) ?? "").split("\n").filter((line) => line !== "");
  return [...pids.map(Number), ...subgroups(folder).flatMap((name) => groupMembers(join(folder, name)))];
}

/** The kernel ends all members at once, so that none can fork its way out. */
export function killGroup(folder: string): void {
  try {
    writeFileSync(join(folder, "cgroup.kill"), "1");
  } catch {
    // Kernels before 5.14 have no such file; the members are then ended one by one.
  }
}

/** Only an empty group can be removed; one that is not is left as it is. */
export function removeGroup(folder: string | undefined): void {
  if (folder === undefined) return;
  for (const name of subgroups(folder)) removeGroup(join(folder, name));
  try {
    rmdirSync(folder);
  } catch {
    // Already gone, or not empty.
  }
}

function subgroups(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
