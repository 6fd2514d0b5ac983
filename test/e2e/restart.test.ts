// The daemon is killed or stopped in the middle of things: what was acknowledged stands, what was open goes on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { daemonFor } from "./daemon-process.ts";
import { EventReader, readerProblems } from "./event-reader.ts";
import { asking, talking } from "./scenario-invocations.ts";
import { scenarioOf } from "./scenario.ts";

const root = join(import.meta.dirname, "..", "..");

test("killed while a question is open, it comes back with that question, and an answer then counts (invariant 3)", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const task = await scenario.start(asking());
  const ask = await scenario.asked(task);
  await daemon.restartKilled();
  assert.deepEqual(await scenario.client.ask(ask.id), ask, "the question, its deadline too, is as it was");
  assert.deepEqual(await scenario.answer(ask, "red"), { accepted: true });
  assert.equal(await scenario.outcome(task), "completed: took red");
});

test("an answer acknowledged just before the kill is the answer, and a later one is told that it is late", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const task = await scenario.start(asking());
  const ask = await scenario.asked(task);
  assert.deepEqual(await scenario.answer(ask, "red"), { accepted: true });
  await daemon.restartKilled();
  const second = await scenario.answer(ask, "blue");
  assert.equal(second.accepted, false);
  assert.ok(!second.accepted && second.code === "late", JSON.stringify(second));
  assert.equal(await scenario.outcome(task), "completed: took red");
});

test("killed while something is queued in a thread, it comes back with the queue, and what was said keeps its order (3)", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const first = await scenario.start(asking({ thread: "busy" }));
  const ask = await scenario.asked(first);
  const second = await scenario.start(talking(1, { thread: "busy" }));
  const third = await scenario.start(talking(2, { thread: "busy" }));
  await daemon.restartKilled();
  for (const task of [second, third]) assert.equal((await scenario.client.task(task)).status, "pending");
  assert.deepEqual(await scenario.answer(ask, "red"), { accepted: true });
  const ends: string[] = [];
  for (const task of [first, second, third]) ends.push(await scenario.outcome(task));
  assert.deepEqual(ends, ["completed: took red", "completed: talked", "completed: talked"]);
  const times = await Promise.all(
    [second, third].map(async (task) => (await scenario.client.task(task)).ended_at ?? 0),
  );
  assert.ok((times[0] ?? 0) <= (times[1] ?? 0));
});

test("an idempotency key makes one task, over a kill and after the task has ended too", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const invoke = (text: string): ReturnType<typeof scenario.client.invoke> =>
    scenario.client.invoke(text, { folder: daemon.folder, key: "order-1" });
  const first = await invoke(talking(1));
  await daemon.restartKilled();
  assert.deepEqual(await invoke(talking(1)), { ...first, existed: true });
  assert.equal(await scenario.outcome(first.task), "completed: talked");
  assert.deepEqual(await invoke(talking(1)), { ...first, existed: true });
  await assert.rejects(invoke(talking(2)), { code: "conflict" });
  assert.equal((await scenario.client.tasks()).tasks.length, 1);
});

test("a pause holds over a kill: new work waits until somebody says to go on", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  await scenario.client.pause();
  const task = await scenario.start(talking(1));
  await daemon.restartKilled();
  const { paused, tasks } = await scenario.client.status();
  assert.deepEqual({ paused, tasks }, { paused: true, tasks: { pending: 1, running: 0, input_required: 0 } });
  await scenario.client.resume();
  assert.equal(await scenario.outcome(task), "completed: talked");
});

test("readers of the event stream go on after kills and stops where they were: no gap, nothing twice (invariant 9)", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const readers = Array.from({ length: 3 }, () => new EventReader({ url: () => daemon.url, key: daemon.key }));
  t.after(() => Promise.all(readers.map((reader) => reader.close())));
  const tasks = await Promise.all([30, 40].map((turns) => scenario.start(talking(turns))));
  const tree = new EventReader({ url: () => daemon.url, key: daemon.key, task: tasks[0] ?? "" });
  t.after(() => tree.close());
  await readers[0]?.reached(40);
  await daemon.restartKilled();
  await readers[0]?.reached(90);
  readers[1]?.drop();
  assert.equal(await daemon.stop(), 0);
  await daemon.up();
  for (const task of tasks) assert.equal(await scenario.outcome(task), "completed: talked");
  await tree.ended;
  const { seq } = await scenario.client.status();
  await Promise.all(readers.map((reader) => reader.reached(seq)));
  const log = await scenario.log();
  for (const reader of readers) assert.deepEqual(readerProblems(reader, log), []);
  assert.deepEqual(
    readerProblems(
      tree,
      log.filter((event) => event.root === tasks[0]),
    ),
    [],
  );
  assert.ok(readers.every(({ connections }) => connections >= 3));
});

test("a graceful stop ends with 0, takes its address file with it, and the next start finishes what was under way", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const task = await scenario.start(talking(40));
  await scenario.happened(task, "message.added", ({ data }) => data.message.role === "assistant");
  assert.equal(await daemon.stop(), 0);
  assert.throws(() => readFileSync(join(daemon.state, "daemon.json")), { code: "ENOENT" });
  await daemon.up();
  assert.equal((await scenario.client.status()).resumed, 2, "the root and its target were taken up");
  assert.equal(await scenario.outcome(task), "completed: talked");
});

test("a stop does not wait for connections that never asked for anything, such as those a browser opens ahead", async (t) => {
  const daemon = await daemonFor(t);
  const socket = connect(Number(new URL(daemon.url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  // One that came later has been answered: this one has been accepted.
  await daemon.client().status();
  const begun = performance.now();
  assert.equal(await daemon.stop(), 0);
  assert.ok(performance.now() - begun < 4_000, "connections that are used get five seconds; these need none");
});

test("a second daemon on the same state finds the first and leaves it in peace", async (t) => {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const { instance } = await scenario.client.status();
  const args = [join(root, "bin", "tutti.js"), "up", "--state", daemon.state, "--port", "0"];
  const env = { PATH: process.env["PATH"], HOME: daemon.folder, TUTTI_COMMAND: "tutti", NO_COLOR: "1" };
  const second = spawnSync(process.execPath, args, { cwd: daemon.folder, env, encoding: "utf8", timeout: 240_000 });
  assert.equal(second.status, 0, second.stderr);
  assert.ok(`${second.stdout}${second.stderr}`.includes(daemon.url), "it says where the running one is");
  assert.equal((await scenario.client.status()).instance, instance);
});
