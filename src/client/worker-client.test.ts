import assert from "node:assert/strict";
import { test } from "node:test";

import { bodyOf, sendJson, sendProblem, wireServer } from "../../test/support/loopback-server.ts";
import { TuttiError } from "../protocol/error.ts";
import { workerClient } from "./worker-client.ts";

const task_id = "tsk_s_1";
const limits = { deadline: 9, tokens: 1, money_micro_usd: 1 };
const lease = { expires_at: 9, token_ms: 5, lease_ms: 2, renew: "POST /v1/worker/events" };
const rights = (version: string) => ({ capability_token: `${version}.x.y`, expires_at: 9 });
const handle = `wh-${"0".repeat(32)}`;

test("a worker fetches its prompt, reports, asks and submits, and uses the renewed token for later calls", async (t) => {
  const seen: string[] = [];
  const { url } = await wireServer(t, async (request, response) => {
    seen.push(
      `${request.headers.authorization?.slice(7, 10)} ${request.method} ${request.url} ${await bodyOf(request)}`,
    );
    if (request.url?.startsWith("/v1/worker/prompt") === true)
      return sendJson(response, { task_id, attempt: 1, agent: "a", prompt: "go", roots: [], limits, lease });
    if (request.url === "/v1/worker/events") return sendJson(response, { accepted: 1, ...rights("tt1") });
    if (request.url === "/v1/worker/ask") {
      const state = seen.length < 7 ? { state: "waiting" } : { state: "answered", value: "blue" };
      return sendJson(response, { ...state, ...rights("tt2") });
    }
    sendJson(response, { recorded: true, already: seen.length > 8 });
  });
  const worker = workerClient({ base_url: url, handle, task_id });
  assert.equal((await worker.prompt()).prompt, "go");
  await worker.progress("half way", { fraction: 0.5 });
  await worker.partial([1]);
  await worker.usage({ input_tokens: 5, money_micro_usd: 2 });
  assert.deepEqual(await worker.ask("Which?", { key: "q1" }), { state: "answered", value: "blue" });
  assert.deepEqual(await worker.submit("the result"), { recorded: true, already: false });
  assert.deepEqual(await worker.result({ a: 1 }, { ok: false }), { recorded: true, already: true });
  const keys = seen.flatMap((line) => /"key":"([\da-f-]{36})"/.exec(line)?.[1] ?? []);
  assert.equal(new Set(keys).size, 3, "each post has a key of its own");
  assert.deepEqual(
    seen.map((line) => line.replace(/,"key":"[\da-f-]{36}"/, "")),
    [
      `wh- GET /v1/worker/prompt?task_id=${task_id} `,
      'wh- POST /v1/worker/events {"events":[{"type":"progress","text":"half way","fraction":0.5}]}',
      'tt1 POST /v1/worker/events {"events":[{"type":"partial","value":[1]}]}',
      'tt1 POST /v1/worker/events {"events":[{"type":"usage","input_tokens":5,"output_tokens":0,"money_micro_usd":2}]}',
      'tt1 POST /v1/worker/ask {"key":"q1","question":"Which?","wait_ms":30000}',
      'tt2 POST /v1/worker/ask {"key":"q1","question":"Which?","wait_ms":30000}',
      'tt2 POST /v1/worker/ask {"key":"q1","question":"Which?","wait_ms":30000}',
      "tt2 POST /v1/worker/submit?ok=true the result",
      `tt2 POST /v1/worker/result {"task_id":"${task_id}","value":{"a":1},"ok":false}`,
    ],
  );
});

test("a call is repeated while the service is away, stopping or failing; a refusal is thrown with its reason", async (t) => {
  let calls = 0;
  const { url } = await wireServer(t, (_, response) => {
    calls += 1;
    if (calls === 1) return void response.destroy();
    if (calls === 2) return sendProblem(response, { status: 503, code: "stopped", detail: "stopping" });
    if (calls === 3) return void response.writeHead(500).end();
    if (calls === 4) return sendJson(response, { recorded: true, already: true });
    const refusal = { status: 410, code: "expired", detail: "this attempt has ended", error: "attempt_over" };
    sendProblem(response, refusal);
  });
  const worker = workerClient({ base_url: url, handle, task_id });
  assert.deepEqual(await worker.submit("x"), { recorded: true, already: true });
  assert.equal(calls, 4);
  await assert.rejects(worker.submit("x"), (thrown) => {
    assert.ok(thrown instanceof TuttiError);
    assert.deepEqual(thrown.details, { reason: "attempt_over" });
    return true;
  });
  assert.equal(calls, 5, "a refusal is not repeated");
});

test("a progress post whose reply was lost is repeated with the same key", async (t) => {
  const bodies: string[] = [];
  const { url } = await wireServer(t, async (request, response) => {
    bodies.push(await bodyOf(request));
    if (bodies.length === 1) return void response.destroy();
    sendJson(response, { accepted: 1, capability_token: "tt1.x.y", expires_at: 9 });
  });
  await workerClient({ base_url: url, handle, task_id }).progress("half way");
  assert.equal(bodies.length, 2);
  assert.equal(bodies[0], bodies[1]);
});

test("a call fails when the service stays away and when the worker is stopped", async (t) => {
  const { url, server } = await wireServer(t, () => undefined);
  const stop = new AbortController();
  const asking = assert.rejects(
    workerClient({ base_url: url, handle, task_id, signal: stop.signal }).ask("?", { key: "k" }),
    { name: "AbortError" },
  );
  stop.abort();
  await asking;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(
    workerClient({ base_url: url, handle, task_id, giveUpAfterMs: 300 }).prompt(),
    (thrown) => thrown instanceof TuttiError && thrown.code === "unreachable",
  );
});
