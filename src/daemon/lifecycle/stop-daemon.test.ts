import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { processTable } from "../../runner/shared/process/process-table.ts";
import { writeDaemonFile } from "./daemon-file.ts";
import { stopDaemon } from "./stop-daemon.ts";

interface Scene {
  readonly folder: string;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly owner: (pid: number) => void;
  readonly file: (changes?: { readonly process_start?: string }) => Promise<void>;
}

/** A process that answers nobody, as a daemon that hangs. */
async function scene(t: TestContext): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-stop-"));
  const child = spawn(process.execPath, ["-e", "console.log(1);setInterval(() => {}, 1000)"], { stdio: "pipe" });
  t.after(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  return {
    folder,
    child,
    pid,
    owner: (who) => writeFileSync(join(folder, "owner.json"), JSON.stringify({ pid: who, since: "today" })),
    async file(changes) {
      const start = (await processTable.start(pid)) ?? "";
      const facts = { url: "http://127.0.0.1:1", instance: "i", started_at: 1, version: "0.1.0" };
      writeDaemonFile(folder, { pid, process_start: start, ...facts, ...changes });
    },
  };
}

test("without a daemon there is nothing to stop", async (t) => {
  const { folder } = await scene(t);
  assert.equal(await stopDaemon(folder, {}), false);
  assert.equal(await stopDaemon(folder, { force: true }), false);
});

test("force ends the daemon's own process and waits until it is gone", async (t) => {
  const { folder, child, pid, owner, file } = await scene(t);
  owner(pid);
  await file();
  const gone = once(child, "exit");
  assert.equal(await stopDaemon(folder, { force: true }), true);
  const [, signal]: unknown[] = await gone;
  assert.equal(signal, "SIGKILL");
});

test("force does not kill a process that does not hold the lock, or that only has the daemon's pid", async (t) => {
  const { folder, child, pid, owner, file } = await scene(t);
  await file();
  assert.equal(await stopDaemon(folder, { force: true }), false, "nobody holds the state");
  owner(pid + 1);
  assert.equal(await stopDaemon(folder, { force: true }), false, "another holds it");
  owner(pid);
  await file({ process_start: "another start" });
  assert.equal(await stopDaemon(folder, { force: true }), false, "the pid was given to another");
  assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
});
