// A task ends the daemon's process whenever it runs. The daemon must not die with it for ever, and people must be able to end it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { TaskId } from "../../src/protocol/ids.ts";
import { DaemonProcess } from "../e2e/daemon-process.ts";
import { scenarioOf } from "../e2e/scenario.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");

/** A daemon that keeps its process id in a file, where the commands of its tasks find it. */
async function mortalDaemon(t: TestContext): Promise<DaemonProcess> {
  const options: { env: Record<string, string> } = { env: {} };
  const daemon = new DaemonProcess(options);
  t.after(() => daemon.close());
  const tells = join(daemon.folder, "tell-pid.mjs");
  const file = JSON.stringify(join(daemon.folder, "daemon.pid"));
  writeFileSync(
    tells,
    `import { writeFileSync } from "node:fs"; if (process.argv.includes("up")) writeFileSync(${file}, String(process.pid));`,
  );
  options.env["NODE_OPTIONS"] = `--import=${tells}`;
  return daemon.up();
}

/** A command that kills the daemon, as often as it is run. */
function killing(folder: string): string {
  const shell = `kill -9 "$(cat '${join(folder, "daemon.pid")}')"; sleep 30`;
  const message = { role: "user", parts: [{ part_type: "text", data: "Go." }] };
  const executor = { kind: "force", type: "remote", runner: { kind: "command", config: { shell, repeatable: true } } };
  return JSON.stringify({
    invocation: { targets: [{ agent: { type: "named", agent_id: "killer" }, message, executor }] },
    agents: { killer: { instructions: "You kill." } },
    roots: ["."],
  });
}

/** Starts the task and restarts the daemon each time it was killed; gives how often it died. */
async function untilItStays(daemon: DaemonProcess, starts: number): Promise<number> {
  for (let deaths = 1; deaths <= starts; deaths += 1) {
    await daemon.ended();
    daemon.launch();
    if (await staysUp(daemon)) return deaths;
  }
  return starts + 1;
}

/** Up, and still there when a task that is resumed would have killed it. */
async function staysUp(daemon: DaemonProcess): Promise<boolean> {
  try {
    await daemon.ready();
    for (let look = 0; look < 15; look += 1) {
      await sleep(100);
      const { ok } = await fetch(`${daemon.url}/healthz`, { signal: AbortSignal.timeout(240_000) });
      assert.ok(ok);
    }
    return true;
  } catch {
    return false;
  }
}

function tutti(daemon: DaemonProcess, ...args: readonly string[]) {
  const env = { PATH: process.env["PATH"], HOME: daemon.folder, TUTTI_COMMAND: "tutti", NO_COLOR: "1" };
  const command = [bin, ...args, "--state", daemon.state];
  return spawnSync(process.execPath, command, { cwd: daemon.folder, env, encoding: "utf8", timeout: 240_000 });
}

test("a task that kills the daemon is parked after the fifth resume, asks, and the daemon stays up", async (t) => {
  const daemon = await mortalDaemon(t);
  const started = await scenarioOf(daemon).start(killing(daemon.folder));
  assert.equal(await untilItStays(daemon, 8), 6, "one death of its own, five when it was resumed");
  const { client } = scenarioOf(daemon);
  const asks = await Promise.all((await client.asks(started)).map(({ id }) => client.ask(id)));
  assert.equal(asks.length, 1, "its caller is not asked about");
  assert.ok(JSON.stringify(asks).includes('"agent":"killer"'), JSON.stringify(asks));
  for (const { id, kind, question } of asks) {
    assert.equal(kind, "approval");
    assert.match(question, /was running when the process ended 5 times in a row/);
    await client.answer(id, { kind: "approval", approved: false }, me);
  }
  assert.match(JSON.stringify(await client.result(started)), /nobody agreed to try again/);
});

test("a task that kills every process that resumes it is canceled while the daemon is down", async (t) => {
  const daemon = await mortalDaemon(t);
  const task: TaskId = await scenarioOf(daemon).start(killing(daemon.folder));
  await daemon.ended();
  const canceled = tutti(daemon, "cancel", task);
  assert.equal(canceled.status, 0, canceled.stderr);
  assert.match(canceled.stdout, /canceled 2 tasks/);
  await daemon.up();
  assert.ok(await staysUp(daemon));
  assert.equal((await scenarioOf(daemon).client.task(task))?.status, "canceled");
});

const me = { kind: "person", name: "test" } as const;
