// The exchange that docs/operators.md shows, frame by frame and request by request, with a real daemon.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { daemonFor } from "./daemon-process.ts";
import { scenarioOf } from "./scenario.ts";
import { type Reply, send } from "./send-json.ts";
import { joinAs } from "./wire-operator.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "operators.md"), "utf8");

test("the exchange of the page about operators happens as it is shown", async (t) => {
  const tree = /## What the invocation says\n\n```json\n([^]*?)```/.exec(page)?.[1];
  assert.ok(tree !== undefined);
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const operator = await joinAs(daemon, ["builder"]);
  t.after(() => operator.close());
  const socket = await operator.connect();
  await scenario.start(tree.replace('"senior": "reviewer"', '"senior": "builder"'));

  const gate = await socket.next("hook_before");
  socket.send({ type: "answer", req_id: gate.req_id, value: 1 });
  const wrong = await socket.next("error");
  assert.equal(wrong.code, "wrong_kind");
  assert.ok(page.includes(`"message":"${wrong.message}"`), wrong.message);
  socket.send({ type: "hook_ack", req_id: gate.req_id, ok: true });
  const spawn = await socket.next("spawn");
  assert.deepEqual([spawn.agent, spawn.attempt, spawn.task_id], ["counter", 1, gate.task_id]);

  const bearer = spawn.worker_handle ?? "";
  assert.match(bearer, /^wh-[0-9a-f]{32}$/);
  const post = (path: string, body: unknown): Promise<Reply> =>
    send(daemon.url, { method: "POST", path: `/v1/worker/${path}`, bearer, body });
  const prompt = await send(daemon.url, { path: `/v1/worker/prompt?task_id=${spawn.task_id}`, bearer });
  assert.partialDeepStrictEqual(prompt.json, {
    attempt: 1,
    lease: { token_ms: 1_800_000, lease_ms: 120_000, renew: "POST /v1/worker/events" },
    agent: "counter",
    system: "Count words.",
    prompt: "Count the words of this sentence.",
  });
  const progress = await post("events", { events: [{ type: "progress", text: "counting", fraction: 0.5 }] });
  assert.partialDeepStrictEqual(progress.json, { accepted: 1 });
  const answering = post("ask", { key: "q1", question: "left or right?", wait_ms: 5_000 });
  const ask = await socket.next("ask");
  assert.partialDeepStrictEqual(ask.question, { kind: "question", question: "counter asks: left or right?" });
  socket.send({ type: "answer", req_id: ask.req_id, value: "left" });
  assert.partialDeepStrictEqual((await answering).json, { state: "answered", value: "left" });

  assert.deepEqual((await post("submit", "6 words")).json, { recorded: true, already: false });
  assert.deepEqual((await post("submit", "6 words")).json, { recorded: true, already: true });
  const other = await post("submit", "7 words");
  assert.partialDeepStrictEqual(other.json, { error: "already_posted", status: 409 });
  socket.send({ type: "spawn_ack", req_id: spawn.req_id, value: {}, ok: true });
  const after = await socket.next("hook_after");
  assert.partialDeepStrictEqual(after, { agent: "counter", attempt: 1, outcome: "completed", result: "6 words" });
});
