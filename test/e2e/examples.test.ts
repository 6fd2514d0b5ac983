// The operator and the worker of the examples as they are, in processes of their own, against a real daemon.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { type DaemonProcess, daemonFor } from "./daemon-process.ts";
import { scenarioOf } from "./scenario.ts";

const folder = join(import.meta.dirname, "..", "..", "examples", "operator");
const invocation = readFileSync(join(folder, "invocation.json"), "utf8");

function startOperator(t: TestContext, daemon: DaemonProcess): { child: ChildProcess; session: string } {
  const session = join(daemon.folder, "session.json");
  const env = { PATH: process.env["PATH"], TUTTI_KEY: daemon.key };
  const args = [join(folder, "operator.js"), daemon.url, "builder", session];
  const child = spawn(process.execPath, args, { env, stdio: "ignore" });
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  });
  return { child, session };
}

const isJoined = async ({ client }: ReturnType<typeof scenarioOf>): Promise<void> => {
  for (let looks = 0; looks < 200; looks += 1) {
    if ((await client.operators()).some(({ connected }) => connected)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail("the operator of the examples did not connect");
};

test("the operator starts the task and its worker, and the worker's result is the task's, over kills of all of them", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const { child, session } = startOperator(t, daemon);
  await isJoined(scenario);
  const first = await scenario.start(invocation);
  assert.equal(await scenario.outcome(first), "completed: 6 words");
  const progress = (await scenario.log(first)).filter((event) => JSON.stringify(event).includes("counting"));
  assert.equal(progress.length, 1);
  assert.equal(statSync(session).mode & 0o777, 0o600);

  await daemon.restartKilled();
  const second = await scenario.start(invocation);
  assert.equal(await scenario.outcome(second), "completed: 6 words", "it came back by itself");

  child.kill("SIGKILL");
  await once(child, "close");
  const third = await scenario.start(invocation);
  startOperator(t, daemon);
  assert.equal(await scenario.outcome(third), "completed: 6 words", "its session outlived its process");
});

test("an operator whose session is over says so, and joins anew when it is started again", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const { child, session } = startOperator(t, daemon);
  await isJoined(scenario);
  child.kill("SIGKILL");
  await once(child, "close");
  const { sid } = JSON.parse(readFileSync(session, "utf8"));
  const headers = { authorization: `Bearer ${daemon.key}` };
  assert.equal((await fetch(`${daemon.url}/v1/operators/${sid}`, { method: "DELETE", headers })).status, 204);
  const [status] = await once(startOperator(t, daemon).child, "close");
  assert.equal(status, 1);
  startOperator(t, daemon);
  await isJoined(scenario);
});

test("both are short enough to be read at once", () => {
  const lines = (file: string): number => readFileSync(join(folder, file), "utf8").trimEnd().split("\n").length;
  assert.ok(lines("operator.js") <= 60 && lines("worker.js") <= 40);
});
