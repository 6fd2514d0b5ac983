import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

import { processTable } from "../../runner/shared/process/process-table.ts";
import { isRunning, ownProcess, waitForExit } from "./process-identity.ts";

test("this process runs, and one with its pid and another start does not", async () => {
  const own = await ownProcess();
  assert.equal(own.pid, process.pid);
  assert.equal(await isRunning(own), true);
  assert.equal(await isRunning({ ...own, start: `${own.start}0` }), false);
});

test("a process is waited for until it has ended, and not longer than asked", async (t) => {
  const child = spawn(process.execPath, ["-e", "console.log(1);setInterval(() => {}, 1000)"], { stdio: "pipe" });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const name = { pid, start: (await processTable.start(pid)) ?? "" };
  assert.equal(await isRunning(name), true);
  assert.equal(await waitForExit(name, 60), false);
  child.kill("SIGKILL");
  assert.equal(await waitForExit(name, 10_000), true);
});

test(
  "a process that has exited does not run, even if its parent has not collected its status",
  { skip: process.platform !== "linux" },
  async (t) => {
    // The shell becomes a program that never collects the status of its child.
    const parent = spawn("sh", ["-c", `sh -c 'echo $$; sleep 0.2' & exec sleep 30`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    t.after(() => parent.kill("SIGKILL"));
    const [chunk]: Buffer[] = await once(parent.stdout, "data");
    const pid = Number(String(chunk).trim());
    const name = { pid, start: (await processTable.start(pid)) ?? "" };
    assert.equal(await waitForExit(name, 10_000), true);
    assert.equal(await processTable.start(pid), name.start, "its pid is still taken");
  },
);
