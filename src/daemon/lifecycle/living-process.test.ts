import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

import { processTable } from "../../runner/process/process-table.ts";
import { ended, lives, ownName } from "./living-process.ts";

test("this process lives, and one with its pid and another start does not", async () => {
  const own = await ownName();
  assert.equal(own.pid, process.pid);
  assert.equal(await lives(own), true);
  assert.equal(await lives({ ...own, start: `${own.start}0` }), false);
});

test("a process is waited for until it has ended, and not longer than asked", async (t) => {
  const child = spawn(process.execPath, ["-e", "console.log(1);setInterval(() => {}, 1000)"], { stdio: "pipe" });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const name = { pid, start: (await processTable.start(pid)) ?? "" };
  assert.equal(await lives(name), true);
  assert.equal(await ended(name, 60), false);
  child.kill("SIGKILL");
  assert.equal(await ended(name, 10_000), true);
});

test(
  "a process that ended and was not fetched by its parent lives no more",
  { skip: process.platform !== "linux" },
  async (t) => {
    // The shell becomes a program that never asks after its child.
    const parent = spawn("sh", ["-c", `sh -c 'echo $$; sleep 0.2' & exec sleep 30`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    t.after(() => parent.kill("SIGKILL"));
    const [chunk]: Buffer[] = await once(parent.stdout, "data");
    const pid = Number(String(chunk).trim());
    const name = { pid, start: (await processTable.start(pid)) ?? "" };
    assert.equal(await ended(name, 10_000), true);
    assert.equal(await processTable.start(pid), name.start, "its pid is still taken");
  },
);
