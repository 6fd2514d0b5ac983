// A revoked API key over a real daemon: everything that came from the key is over when the revocation returns, and stays so.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";

import type { TaskEvent } from "../../src/protocol/task/event.ts";
import { type DaemonProcess, daemonFor } from "../e2e/daemon-process.ts";
import { handed } from "../e2e/scenario-invocations.ts";
import { scenarioOf } from "../e2e/scenario.ts";
import { type Reply, send } from "../e2e/send-json.ts";
import { joinAs } from "../e2e/wire-operator.ts";
import { until, within } from "../support/wait-until.ts";

/** A daemon, a colleague with a key of their own whose operator is connected, and what their workers do. */
async function colleague(t: TestContext, role: "operator" | "admin") {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const key = await scenario.client.addKey({ name: "colleague", role });
  const operator = await joinAs(daemon, ["colleague"], key.key);
  t.after(() => operator.close());
  const socket = await operator.connect();
  return { daemon, scenario, key, operator, socket };
}

function worker(daemon: DaemonProcess) {
  const post = (path: string, bearer: string, body: unknown): Promise<Reply> =>
    send(daemon.url, { method: "POST", path: `/v1/worker/${path}`, bearer, body });
  return {
    fetch: (bearer: string, task: string): Promise<Reply> =>
      send(daemon.url, { path: `/v1/worker/prompt?task_id=${task}`, bearer }),
    progress: (bearer: string): Promise<Reply> =>
      post("events", bearer, { events: [{ type: "progress", text: "on it" }] }),
    submit: (bearer: string, result: string): Promise<Reply> => post("submit", bearer, result),
    ask: (bearer: string, wait_ms = 0): Promise<Reply> =>
      post("ask", bearer, { key: "q", question: "Which?", wait_ms }),
  };
}

const reasonIn = ({ status, json }: Reply): unknown[] => [status, (json as { error?: unknown }).error];
const tokenIn = ({ json }: Reply): string => String((json as { capability_token?: unknown }).capability_token);

/** Follows until the stream ends, and gives what it ended with. */
async function streamEnd(url: string, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, accept: "text/event-stream" };
  const response = await fetch(`${url}/v1/events`, { headers });
  return response.text();
}

test("the workers of a revoked key are refused, also after a kill, and what they held goes to others", async (t) => {
  const { daemon, scenario, key, socket } = await colleague(t, "operator");
  const { fetch: fetchPrompt, progress, submit, ask } = worker(daemon);
  const repeatable = await scenario.start(handed({ operator: "any", repeatable: true, ack_ms: 0 }));
  const once = await scenario.start(handed({ operator: "any", ack_ms: 0 }, {}, "Build it once."));
  const spawns = [await socket.next("spawn")];
  spawns.push(await socket.next("spawn", (frame) => frame.req_id !== spawns[0]?.req_id));
  const held: { task: string; handle: string; token: string }[] = [];
  for (const { task_id, worker_handle = "" } of spawns) {
    assert.equal((await fetchPrompt(worker_handle, task_id)).status, 200);
    const posted = await progress(worker_handle);
    assert.equal(posted.status, 200, posted.text);
    held.push({ task: task_id, handle: worker_handle, token: tokenIn(posted) });
  }
  const others = await joinAs(daemon, ["other"]);
  t.after(() => others.close());
  const other = await others.connect();
  const polling = ask(held[0]?.token ?? "", 20_000);
  await scenario.asked(repeatable);

  await scenario.client.revokeKey(key.id);
  const refusedEverywhere = async (): Promise<void> => {
    for (const { task, handle, token } of held) {
      for (const bearer of [handle, token]) {
        assert.deepEqual(reasonIn(await progress(bearer)), [401, "key_revoked"], "it does not renew");
        assert.deepEqual(reasonIn(await submit(bearer, "mine")), [401, "key_revoked"]);
        assert.deepEqual(reasonIn(await ask(bearer)), [401, "key_revoked"]);
        assert.deepEqual(reasonIn(await fetchPrompt(bearer, task)), [401, "key_revoked"]);
      }
    }
  };
  await refusedEverywhere();
  assert.deepEqual(reasonIn(await polling), [401, "key_revoked"], "a poll that was under way ends too");

  const again = await other.next("spawn");
  assert.equal(again.attempt, 2, "the repeatable task is offered again as the next attempt");
  const lapsed = await scenario.happened(once, "ask.raised", (event: Extract<TaskEvent, { type: "ask.raised" }>) =>
    /key that they came from was revoked/.test(event.data.ask.question),
  );
  assert.match(lapsed.data.ask.question, /may have done the work.*Offer the task to an operator again\?/);

  await daemon.restartKilled();
  await refusedEverywhere();
  assert.equal((await submit(again.worker_handle ?? "", "theirs")).status, 200);
  assert.equal(await scenario.outcome(repeatable), "completed: theirs");
  // The question about the other task is still open.
  const open = await scenario.client.ask(lapsed.data.ask.id);
  assert.deepEqual(await scenario.answer(open, "give up"), { accepted: true });
  assert.match(await scenario.outcome(once), /^failed/);
});

test("the socket, the ticket, the stream and the open requests of a revoked admin key end with it", async (t) => {
  const { daemon, scenario, key, operator, socket } = await colleague(t, "admin");
  const gated = handed({ operator: "colleague" }, { operators: { gate: "colleague" } });
  const task = await scenario.start(gated);
  await socket.next("hook_before");
  const asked = { method: "POST", path: `/v1/operators/${operator.sid}/ticket`, bearer: operator.token } as const;
  const { ticket } = (await send(daemon.url, asked)).json as { ticket: string };
  const stream = streamEnd(daemon.url, key.key);
  const waiting = send(daemon.url, { path: `/v1/tasks/${task}/result?wait_ms=20000`, bearer: key.key });
  const slow = slowRequest(daemon, key.key);
  await slow.headArrived;

  await scenario.client.revokeKey(key.id);
  assert.deepEqual(await within(() => socket.closed, "the end of the socket", 1_000), {
    code: 1000,
    reason: "operator session torn down",
  });
  assert.match(await within(() => stream, "the end of the stream", 1_000), /"code":"unauthorized"/);
  assert.equal((await within(() => waiting, "the end of a waiting request", 1_000)).status, 401);
  assert.match(await slow.finish(), /^HTTP\/1\.1 401 /, "a body that arrives later is not carried out");
  await assert.rejects(operator.connect({ ticket }));
  await assert.rejects(operator.connect());
  assert.match(await scenario.outcome(task), /^failed.*its key was revoked/);

  await daemon.restartKilled();
  await assert.rejects(operator.connect());
  assert.deepEqual(await scenario.client.operators(), []);
  const named = (await scenario.client.keys()).filter(({ name }) => name === "a way back in");
  assert.deepEqual(named, [], "the revoked key made no other key");
});

/** Asks for a new key; the end of the body is sent when `finish` is called. Gives the reply. */
function slowRequest(daemon: DaemonProcess, key: string) {
  const body = JSON.stringify({ name: "a way back in", role: "admin" });
  const { port, host } = new URL(daemon.url);
  const socket = connect({ host: "127.0.0.1", port: Number(port) });
  let heard = "";
  const { promise: headArrived, resolve } = Promise.withResolvers<void>();
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    heard += chunk;
    if (heard.startsWith("HTTP/1.1 100 ")) resolve();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((done) => socket.on("close", () => done()));
  const head = [
    "POST /v1/keys HTTP/1.1",
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Expect: 100-continue",
    "Connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, 10)}`);
  return {
    headArrived,
    async finish(): Promise<string> {
      socket.write(body.slice(10));
      await within(() => closed, "the reply to a slow request");
      return heard.replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, "");
    },
  };
}

/** A WebSocket that does not close when it is told to: it goes on sending. */
async function stubbornSocket(daemon: DaemonProcess, { sid, token }: { readonly sid: string; readonly token: string }) {
  const socket = connect(Number(new URL(daemon.url).port), "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  socket.write(
    [
      `GET /v1/operators/${sid}/ws HTTP/1.1`,
      `Host: ${new URL(daemon.url).host}`,
      `Authorization: Bearer ${token}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}`,
      "Sec-WebSocket-Protocol: tutti.v1",
      "",
      "",
    ].join("\r\n"),
  );
  return {
    socket,
    received: () => received,
    /** One text frame; its mask is zero, so the text is sent as it is. */
    say(frame: object): void {
      const text = Buffer.from(JSON.stringify(frame));
      socket.write(Buffer.concat([Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 0xff, 0, 0, 0, 0]), text]));
    },
  };
}

test("a schedule ends with the key that made it, and the same schedule of somebody else goes on", async (t) => {
  const daemon = await daemonFor(t);
  const { client } = scenarioOf(daemon);
  const key = await client.addKey({ name: "colleague", role: "operator" });
  const invocation = handed({ operator: "any" });
  const schedule = { cron: "0 9 * * *", work: { invocation }, folder: "/", about: "every morning" };
  const own = await client.addSchedule(schedule);
  const theirs = await send(daemon.url, { method: "POST", path: "/v1/schedules", bearer: key.key, body: schedule });
  assert.equal(theirs.status, 201, theirs.text);
  assert.equal((await client.schedules()).length, 2);
  await client.revokeKey(key.id);
  const left = async (): Promise<string[]> => (await client.schedules()).map(({ id }) => id);
  assert.deepEqual(await left(), [own.id]);
  await daemon.restartKilled();
  assert.deepEqual(await left(), [own.id]);
});

test("a frame that a revoked operator sends after the server has closed its socket is not carried out", async (t) => {
  for (const revoked of [false, true]) {
    const { daemon, scenario, key, operator } = await colleague(t, "operator");
    const stubborn = await stubbornSocket(daemon, operator);
    t.after(() => stubborn.socket.destroy());
    const task = await scenario.start(
      handed({ operator: "colleague", ack_ms: 0 }, { operators: { gate: "colleague" } }),
    );
    const req_id = await until(() => /"hook_before","req_id":"([^"]+)"/.exec(stubborn.received())?.[1]);
    if (revoked) {
      await scenario.client.revokeKey(key.id);
      await until(() => (stubborn.received().includes("operator session torn down") ? true : undefined));
    }
    stubborn.say({ type: "hook_ack", req_id, ok: true });
    if (revoked) assert.match(await scenario.outcome(task), /^failed.*its key was revoked/);
    // Without the revocation the same frame lets the task begin, so it is the revocation that stops it.
    else await until(() => (stubborn.received().includes('"type":"spawn"') ? true : undefined));
  }
});
