import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { killChild } from "../../../test/support/kill-process.ts";
import { Failure } from "../../protocol/failure.ts";
import { AgentResult } from "../../protocol/invocation/invocation-result.ts";
import { processTable } from "../shared/process/process-table.ts";
import { CommandResult } from "./command-result.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "tutti-crash-")));
const roots: string[] = [];
after(() => {
  for (const root of roots) for (const pid of lines(join(root, "pid"))) endLeft(Number(pid), root);
  rmSync(folder, { recursive: true });
});

/** What a failed test would leave behind: only a process that still runs where we started it. */
function endLeft(pid: number, root: string): void {
  try {
    if (readlinkSync(`/proc/${pid}/cwd`).startsWith(root)) process.kill(-pid, "SIGKILL");
  } catch {
    // Gone, as it should be.
  }
}

const from = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

/** A whole engine in a process of its own: starts or finds the task, does what it was told, prints the result. */
const driver = `
  import { systemClock } from ${from("../../engine/clock.ts")};
  import { Engine } from ${from("../../engine/engine.ts")};
  import { takeLock } from ${from("../../store/sqlite/lock.ts")};
  import { openStore } from ${from("../../store/sqlite/sqlite-store.ts")};
  import { cleanUp } from ${from("../shared/process/clean-up.ts")};
  import { commandRunner } from ${from("./runner.ts")};
  const [root, config, then] = JSON.parse(process.argv[1]);
  const lock = takeLock(root + "/state");
  const store = openStore(root + "/state");
  const engine = new Engine({ store, clock: systemClock, runners: { command: commandRunner() }, cleanUp });
  await engine.recover();
  const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
  if (config === null) {
    await engine.idle();
    say({});
  } else {
    const rights = { tools: [], roots: [root] };
    const { task } = await engine.start({ runner: { kind: "command", config }, agent: "a", input: null, rights }, { key: "k" });
    if (then !== "run") {
      while (!(await import("node:fs")).existsSync(root + "/pid")) await new Promise((resolve) => setTimeout(resolve, 5));
      if (then === "cancel") await engine.cancel(task, "enough");
      if (then === "retry") await engine.retry(task);
      if (then === "stop") await engine.stop();
      if (then === "drain") {
        const draining = engine.drain(30_000);
        process.kill(Number((await import("node:fs")).readFileSync(root + "/pid", "utf8")), "SIGTERM");
        await draining;
      }
      say({ did: then });
    }
    if (then !== "stop" && then !== "drain") say(await engine.result(task));
  }
  await engine.stop();
  store.close();
  lock.release();
`;

type Then = "run" | "cancel" | "retry" | "stop" | "drain";

function start(root: string, config: Record<string, unknown> | null, then: Then = "run"): ChildProcess {
  const args = ["--input-type=module", "-e", driver, JSON.stringify([root, config, then])];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

async function firstLine(child: ChildProcess): Promise<unknown> {
  let text = "";
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    const end = text.indexOf("\n");
    if (end !== -1) return JSON.parse(text.slice(0, end));
  }
  throw new Error(`the engine said nothing whole: ${text}`);
}

async function restarted(root: string, config: Record<string, unknown>): Promise<AgentResult> {
  const child = start(root, config);
  try {
    return AgentResult.parse(await firstLine(child));
  } finally {
    await killChild(child);
  }
}

function place(): string {
  const root = mkdtempSync(join(folder, "root-"));
  mkdirSync(join(root, "state"));
  roots.push(root);
  return root;
}

async function written(path: string): Promise<string> {
  for (let look = 0; look < 1_000; look += 1) {
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (text.endsWith("\n")) return text.trim();
    await sleep(10);
  }
  throw new Error(`${path} was not written`);
}

async function isThere(pid: number): Promise<boolean> {
  return (await processTable.list()).some((entry) => entry.pid === pid && !entry.ended);
}

const lines = (path: string): string[] => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);

describe("a command and the end of the engine", { concurrency: 3 }, () => {
  test("invariants 1 and 3: after a kill, a restart ends the running command, calls it unknown and does not repeat it", async () => {
    const root = place();
    const config = { shell: "echo ran >> ledger; echo $$ > pid; sleep 60" };
    const child = start(root, config);
    const pid = Number(await written(join(root, "pid")));
    await killChild(child);
    assert.equal(await isThere(pid), true, "the command outlives the engine, or there is nothing to test");
    const result = await restarted(root, config);
    assert.equal(await isThere(pid), false);
    assert.equal(result.status, "failed");
    const failure = Failure.parse(result.content);
    assert.equal(failure.code, "outcome_unknown");
    assert.match(failure.message, /not done a second time: echo ran/);
    assert.deepEqual(lines(join(root, "ledger")), ["ran"]);
  });

  test("invariants 1 and 3: a repeatable command is run again, once what was left of it is gone", async () => {
    const root = place();
    const script = `
    if [ -e pid ]; then
      if kill -0 "$(cat pid)" 2> /dev/null && ! grep -q '^State:.Z' "/proc/$(cat pid)/status"; then echo overlap; else echo alone; fi
    else echo $$ > pid; sleep 60; fi`;
    const config = { shell: script, repeatable: true };
    const child = start(root, config);
    const pid = Number(await written(join(root, "pid")));
    await killChild(child);
    assert.equal(await isThere(pid), true);
    const result = await restarted(root, config);
    assert.equal(result.status, "completed", JSON.stringify(result.content));
    assert.equal(CommandResult.parse(result.content).stdout, "alone\n");
    assert.equal(await isThere(pid), false);
  });

  test("invariants 3 and 4: killed after a cancel and before the processes had gone, a restart ends them", async () => {
    const root = place();
    const config = { shell: "trap '' TERM; echo $$ > pid; while :; do sleep 1; done", grace_ms: 60_000 };
    const child = start(root, config, "cancel");
    assert.deepEqual(await firstLine(child), { did: "cancel" });
    const pid = Number(await written(join(root, "pid")));
    await killChild(child);
    assert.equal(await isThere(pid), true);
    const again = start(root, null);
    try {
      assert.deepEqual(await firstLine(again), {});
      assert.equal(await isThere(pid), false);
    } finally {
      await killChild(again);
    }
  });

  test("invariants 3 and 4: killed after a retry, what the attempt that was given up had left is ended", async () => {
    const root = place();
    const config = {
      shell: "trap '' TERM; echo $$ >> pid; while :; do sleep 1; done",
      grace_ms: 60_000,
      timeout_ms: 60_000,
    };
    const child = start(root, config, "retry");
    assert.deepEqual(await firstLine(child), { did: "retry" });
    const pid = Number(await written(join(root, "pid")));
    await killChild(child);
    assert.equal(await isThere(pid), true);
    const again = start(root, null);
    try {
      for (let look = 0; look < 500 && (await isThere(pid)); look += 1) await sleep(20);
      assert.equal(await isThere(pid), false);
      for (let look = 0; look < 500 && lines(join(root, "pid")).length < 2; look += 1) await sleep(20);
      assert.equal(lines(join(root, "pid")).length, 2, "the next attempt runs");
    } finally {
      await killChild(again);
    }
  });

  test("an engine that is stopped ends the processes first, and the next start tells the outcome is unknown", async () => {
    const root = place();
    const config = { shell: "echo $$ > pid; sleep 60" };
    const child = start(root, config, "stop");
    assert.deepEqual(await firstLine(child), { did: "stop" });
    assert.equal(await isThere(Number(await written(join(root, "pid")))), false);
    await killChild(child);
    const result = await restarted(root, config);
    const { code, message } = Failure.parse(result.content);
    assert.equal(code, "outcome_unknown");
    assert.match(message, /^Tutti was stopped while run was under way, and ended it; .*: echo/);
  });

  test("a signal that a service manager sends to Tutti and to the command is a stop, not a failure of the command", async () => {
    const root = place();
    const config = { shell: "if [ -e pid ]; then echo again; else echo $$ > pid; exec sleep 60; fi", repeatable: true };
    const child = start(root, config, "drain");
    assert.deepEqual(await firstLine(child), { did: "drain" });
    await killChild(child);
    const result = await restarted(root, config);
    assert.equal(result.status, "completed", JSON.stringify(result.content));
    assert.equal(CommandResult.parse(result.content).stdout, "again\n");
  });

  test("invariants 1 and 3: killed at any instant, a command has run at most once and nothing of it is left", async () => {
    const config = { shell: "echo ran >> ledger; echo $$ >> pid; sleep 1", grace_ms: 100 };
    for (const delay of [0, 8, 24]) {
      const root = place();
      const child = start(root, config);
      for (let look = 0; look < 2_000 && !existsSync(join(root, "state", "tutti.db-wal")); look += 1) await sleep(1);
      await sleep(delay);
      await killChild(child);
      const again = start(root, null);
      try {
        assert.deepEqual(await firstLine(again), {});
      } finally {
        await killChild(again);
      }
      const [ledger, pids] = [lines(join(root, "ledger")), lines(join(root, "pid")).map(Number)];
      assert.ok(ledger.length <= 1, `killed after ${delay} ms it ran ${ledger.length} times`);
      for (const pid of pids) assert.equal(await isThere(pid), false);
    }
  });
});
