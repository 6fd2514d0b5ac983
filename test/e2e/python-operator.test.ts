// An operator and its workers in Python's standard library, written from docs/operators.md, against a real daemon.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { type DaemonProcess, daemonFor } from "./daemon-process.ts";
import { handed } from "./scenario-invocations.ts";
import { scenarioOf } from "./scenario.ts";

const program = join(import.meta.dirname, "..", "support", "python", "run_operator.py");

interface PythonOperator {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly output: () => string;
}

function startOperator(
  t: TestContext,
  daemon: DaemonProcess,
  { folder, key, args = [] }: { readonly folder: string; readonly key: string; readonly args?: readonly string[] },
): PythonOperator {
  const env = { PATH: process.env["PATH"], TUTTI_KEY: key, WORK_SECONDS: "10", PYTHONDONTWRITEBYTECODE: "1" };
  const child = spawn("python3", [program, daemon.url.replace("127.0.0.1", "localhost"), "builder", folder, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const ended = once(child, "exit").then(([code]: unknown[]) => code);
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const log = join(folder, "worker.log");
  return { child, ended, output: () => `${output}\n${existsSync(log) ? readFileSync(log, "utf8") : ""}` };
}

test(
  "an operator and workers in Python do a task over crashes, renewals, questions and a retry",
  { timeout: 240_000 },
  async (t) => {
    const daemon = await daemonFor(t);
    const scenario = scenarioOf(daemon);
    const { key } = await scenario.client.addKey({ name: "python", role: "operator" });
    const folder = mkdtempSync(join(daemon.folder, "operator-"));
    const crashing = startOperator(t, daemon, { folder, key, args: ["--crash-after-launch"] });
    // The work takes longer than the handle is valid, and the worker is never silent for longer than it may be.
    const config = { operator: "builder", token_ms: 8_000, lease_ms: 6_000, ack_ms: 30_000 };
    const more = { operators: { gate: "builder", senior: "builder" } };
    const task = await scenario.start(handed(config, more, "Count the words of this sentence."));
    assert.equal(await crashing.ended, 9, crashing.output());
    const operator = startOperator(t, daemon, { folder, key });
    await daemon.restartKilled();
    assert.equal(await scenario.outcome(task), "completed: 6 words, blue", operator.output());
    const log = JSON.stringify(await scenario.log(task));
    assert.match(log, /step 1[^]*step 2[^]*Which colour\?[^]*"tokens":42/);
    assert.equal(log.match(/"text":"step 1"|"data":"step 1"/g)?.length, 1, "progress that was repeated is kept once");

    await daemon.restartKilled();
    const failing = await scenario.start(handed(config, more, "This is to fail once."));
    assert.equal(await scenario.outcome(failing), "completed: 5 words, blue", operator.output());

    operator.child.kill("SIGTERM");
    assert.equal(await operator.ended, 0, operator.output());
    assert.deepEqual(await scenario.client.operators(), []);
  },
);
