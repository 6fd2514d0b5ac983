// A worker that posts without end, on a disk that is really full: Tutti refuses early, loses nothing and goes on by itself.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type DaemonProcess, daemonFor } from "../e2e/daemon-process.ts";
import { handed, talking } from "../e2e/scenario-invocations.ts";
import { scenarioOf } from "../e2e/scenario.ts";
import { type Reply, send } from "../e2e/send-json.ts";
import { joinAs } from "../e2e/wire-operator.ts";
import { fillDisk } from "../support/small-disk.ts";
import { until } from "../support/wait-until.ts";

const mebibyte = 1024 * 1024;

async function attacked(t: TestContext, args: readonly string[]) {
  const daemon = await daemonFor(t, { diskBytes: 48 * mebibyte, args });
  const scenario = scenarioOf(daemon);
  const operator = await joinAs(daemon, ["builder"]);
  t.after(() => operator.close());
  const socket = await operator.connect();
  const task = await scenario.start(handed({ operator: "builder", ack_ms: 0 }));
  const { worker_handle, capability_token } = await socket.next("spawn");
  const bearer = worker_handle ?? capability_token;
  const post = (body: unknown, path = "/v1/worker/events"): Promise<Reply> =>
    send(daemon.url, { method: "POST", path, bearer, body });
  const progress = (text: string): Promise<Reply> => post({ events: [{ type: "progress", text }] });
  const large = (): Promise<Reply> => post({ events: [{ type: "partial", value: "x".repeat(200_000) }] });
  return { daemon, scenario, task, post, progress, large };
}

const readiness = (daemon: DaemonProcess): Promise<Reply> => send(daemon.url, { path: "/readyz" });

async function readyWith(daemon: DaemonProcess, status: number): Promise<Reply> {
  for (let tries = 0; tries < 200; tries += 1, await sleep(50)) {
    const reply = await readiness(daemon);
    if (reply.status === status) return reply;
  }
  throw new Error(`/readyz did not come to ${status}`);
}

const codeIn = ({ status, json }: Reply): unknown[] => [status, (json as { code?: unknown }).code];

test("a worker's posts are refused before the disk is full, and its task and others go on", async (t) => {
  const { daemon, scenario, task, post, large } = await attacked(t, ["--min-free", "24"]);
  const talker = await scenario.start(talking(20));
  let refused: Reply | undefined;
  for (let count = 0; count < 400 && refused === undefined; count += 1) {
    const reply = await large();
    if (reply.status !== 200) refused = reply;
  }
  assert.ok(refused !== undefined, "a post was refused");
  assert.deepEqual(codeIn(refused), [507, "disk_full"], refused.text);
  assert.match(refused.text, /almost full.*free some space/);

  assert.deepEqual(codeIn(await readiness(daemon)), [503, "disk_full"]);
  assert.equal((await scenario.client.status()).degraded?.code, "disk_full");
  await assert.rejects(scenario.start(talking(1)), { code: "disk_full" });
  assert.equal(await scenario.outcome(talker), "completed: talked");
  const result = await post("done", "/v1/worker/submit");
  assert.equal(result.status, 200, result.text);
  assert.equal(await scenario.outcome(task), "completed: done");
});

test("on a full disk everything acknowledged is kept, new work is refused, and all goes on when there is room", async (t) => {
  const { daemon, scenario, task, post, progress } = await attacked(t, ["--min-free", "0"]);
  const talkers = await Promise.all([scenario.start(talking(40)), scenario.start(talking(40))]);
  const kept: string[] = [];
  const tell = async (text: string): Promise<Reply> => {
    const reply = await progress(text);
    if (reply.status === 200) kept.push(text);
    return reply;
  };
  for (let count = 0; count < 20; count += 1) await tell(`before ${count}`);

  const ballast = fillDisk(daemon.seenState);
  // A post that was taken before the store knew is answered when it is on disk, so nobody waits for it here.
  const early = Array.from({ length: 5 }, (_, count) => tell(`early ${count} ${"x".repeat(5_000)}`));
  assert.deepEqual(codeIn(await readyWith(daemon, 503)), [503, "disk_full"]);
  ballast.topUp();
  assert.match(String((await scenario.client.status()).degraded?.message), /disk is full.*goes on by itself/);
  for (let count = 0; count < 50; count += 1) {
    assert.deepEqual(codeIn(await tell(`during ${count}`)), [507, "disk_full"]);
  }
  assert.deepEqual(codeIn(await post("done", "/v1/worker/submit")), [507, "disk_full"]);
  await assert.rejects(scenario.start(talking(1)), { code: "disk_full" });
  assert.equal((await send(daemon.url, { path: "/healthz" })).status, 200, "and it is alive");

  ballast.empty();
  await Promise.all(early);
  await readyWith(daemon, 200);
  await tell("after");
  for (const talker of talkers) {
    assert.equal(await scenario.outcome(talker), "completed: talked");
    const calls = (await scenario.log(talker)).filter(({ type }) => type === "step.finished");
    const keys = calls.map(({ task: of, ...event }) => `${of} ${JSON.stringify("data" in event ? event.data : "")}`);
    assert.equal(new Set(keys).size, keys.length, "no step was recorded twice");
  }
  assert.equal((await post("done", "/v1/worker/submit")).status, 200);
  assert.equal(await scenario.outcome(task), "completed: done");
  const told = JSON.stringify(await scenario.log(task));
  for (const text of kept) assert.equal(told.split(`"${text}"`).length - 1, 1, `${text} is there once`);
  assert.ok(!told.includes('"during '), "what was refused is not there");
  await until(() => daemon.output.includes("new work is taken again"), "the log says so");
});
