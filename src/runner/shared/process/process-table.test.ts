import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { until } from "../../../../test/support/wait-until.ts";
import { linuxProcesses, processTable, psProcesses } from "./process-table.ts";

const onLinux = { skip: process.platform !== "linux" };

test("a process is found with its group and start, and a start stays the same", async () => {
  const found = (await processTable.list()).find((entry) => entry.pid === process.pid);
  assert.ok(found !== undefined && !found.ended);
  assert.equal(await processTable.start(process.pid), found.start);
});

test("a pid nobody has, has no start", async () => {
  const child = spawn("/bin/true");
  await once(child, "exit");
  assert.equal(await processTable.start(child.pid ?? 0), undefined);
  assert.equal(await psProcesses.start(child.pid ?? 0), undefined);
});

test("a name with brackets and blanks does not confuse the reading", onLinux, async () => {
  const child = spawn("/bin/sh", ["-c", "printf ') R 1 1 (' > /proc/self/comm; echo ready; read -r _"], {
    detached: true,
  });
  try {
    await once(child.stdout, "data");
    assert.equal(readFileSync(`/proc/${child.pid}/comm`, "utf8"), ") R 1 1 (\n");
    const entry = (await linuxProcesses.list()).find(({ pid }) => pid === child.pid);
    assert.equal(entry?.group, child.pid);
    assert.equal(entry?.session, child.pid);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

test("both ways of asking the system tell the same processes and groups", onLinux, async () => {
  const child = spawn("/bin/sleep", ["30"], { detached: true });
  try {
    await once(child, "spawn");
    const pick = ({ pid, group, ended }: { pid: number; group: number; ended: boolean }) => ({ pid, group, ended });
    const own = (pid: number): boolean => pid === process.pid || pid === child.pid;
    const fromProc = (await linuxProcesses.list()).filter(({ pid }) => own(pid)).map(pick);
    const fromPs = (await psProcesses.list()).filter(({ pid }) => own(pid)).map(pick);
    assert.equal(fromProc.length, 2);
    assert.deepEqual(fromPs, fromProc);
    assert.equal(typeof (await psProcesses.start(child.pid ?? 0)), "string");
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

test("the variables a process was started with are told, whole names and values only", onLinux, async () => {
  const child = spawn("/bin/sleep", ["30"], { env: { MARK: "a b" } });
  try {
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    assert.ok(linuxProcesses.newest().includes(pid));
    // The pid is there before the program is.
    await until(() => linuxProcesses.environment(pid).includes("MARK=a b"));
    assert.ok(!linuxProcesses.environment(pid).includes("MARK=a"));
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
