// Workers over real sockets and a real daemon: the first result wins, the same one again is known, nothing else is let in.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";

import type { SpawnFrame } from "../../src/protocol/operator/frames.ts";
import { type DaemonProcess, daemonFor } from "./daemon-process.ts";
import { handed } from "./scenario-invocations.ts";
import { type Scenario, scenarioOf } from "./scenario.ts";
import { type Reply, send, type Sending } from "./send-json.ts";
import { joinAs, type WireSocket } from "./wire-operator.ts";

interface ProjectRuntime {
  readonly daemon: DaemonProcess;
  readonly scenario: Scenario;
  readonly socket: WireSocket;
  /** Starts a task that is handed to the operator, and gives its frame. */
  readonly spawn: (
    text: string,
    config?: Record<string, unknown>,
  ) => Promise<{ task: string; frame: SpawnFrame; bearer: string }>;
  readonly ask: (sending: Sending) => Promise<Reply>;
}

async function runtime(t: TestContext): Promise<ProjectRuntime> {
  const daemon = await daemonFor(t);
  const scenario = scenarioOf(daemon);
  const operator = await joinAs(daemon, ["builder"]);
  t.after(() => operator.close());
  const socket = await operator.connect();
  const seen = new Set<string>();
  return {
    daemon,
    scenario,
    socket,
    async spawn(text, config = {}) {
      const task = await scenario.start(handed({ operator: "builder", ack_ms: 0, ...config }, {}, text));
      const frame = await socket.next("spawn", ({ req_id }) => !seen.has(req_id));
      seen.add(frame.req_id);
      return { task, frame, bearer: frame.worker_handle ?? frame.capability_token };
    },
    ask: (sending) => send(daemon.url, sending),
  };
}

const submit = (bearer: string, body: string): Sending => ({
  method: "POST",
  path: "/v1/worker/submit",
  bearer,
  body,
});
const reasonIn = ({ status, json }: Reply): unknown[] => [status, (json as { error?: unknown }).error];

test("killed before a submit was acknowledged, the worker's retry is told it is recorded, and it counts once", async (t) => {
  const { daemon, scenario, spawn, ask } = await runtime(t);
  const { task, bearer } = await spawn("Build.", { ack_ms: 2_000 });
  // Written and never read: the worker does not learn what became of it.
  const socket = connect(Number(new URL(daemon.url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.pause();
  const head = [
    "POST /v1/worker/submit HTTP/1.1",
    `Host: ${new URL(daemon.url).host}`,
    `Authorization: Bearer ${bearer}`,
  ];
  socket.write(`${[...head, "Content-Type: text/plain", "Content-Length: 5"].join("\r\n")}\r\n\r\nbuilt`);
  const settled = await scenario.happened(task, "wait.settled");
  assert.equal(settled.data.outcome, "answered");
  await daemon.restartKilled();
  const retried = await ask(submit(bearer, "built"));
  assert.deepEqual([retried.status, retried.json], [200, { recorded: true, already: true }]);
  assert.deepEqual(reasonIn(await ask(submit(bearer, "built better"))), [409, "already_posted"]);
  assert.equal(await scenario.outcome(task), "completed: built");
  const again = await ask(submit(bearer, "built"));
  assert.deepEqual([again.status, again.json], [200, { recorded: true, already: true }], "after the end too");
  const other = await ask(submit(bearer, "built worse"));
  assert.ok([409, 410].includes(other.status), other.text);
});

test("progress is kept in order and renews the token; a question of a worker waits for a person over a kill", async (t) => {
  const { daemon, scenario, spawn, ask } = await runtime(t);
  const { task, frame, bearer } = await spawn("Build.");
  const prompt = await ask({ path: `/v1/worker/prompt?task_id=${frame.task_id}`, bearer });
  assert.match(prompt.text, /Build\./);
  const events = (token: string, ...texts: string[]): Sending => ({
    method: "POST",
    path: "/v1/worker/events",
    bearer: token,
    body: { events: texts.map((text) => ({ type: "progress", text })) },
  });
  const accepted = await ask(events(bearer, "sawing", "planing"));
  assert.equal(accepted.status, 200, accepted.text);
  const renewed = String((accepted.json as { capability_token: string }).capability_token);
  await daemon.restartKilled();
  assert.equal((await ask(events(renewed, "gluing"))).status, 200, "a token outlives the process that made it");
  const question = { key: "wood", question: "Which wood?", wait_ms: 0 };
  const asking: Sending = { method: "POST", path: "/v1/worker/ask", bearer: renewed, body: question };
  assert.partialDeepStrictEqual((await ask(asking)).json, { state: "waiting" });
  const open = await scenario.asked(task);
  assert.match(open.question, /Which wood\?/);
  await daemon.restartKilled();
  assert.deepEqual(await scenario.answer(open, "oak"), { accepted: true });
  assert.partialDeepStrictEqual((await ask(asking)).json, { state: "answered", value: "oak" });
  assert.deepEqual(reasonIn(await ask({ ...asking, body: { ...question, question: "Which glue?" } })), [
    409,
    "key_reused",
  ]);
  await ask(submit(renewed, "built"));
  assert.equal(await scenario.outcome(task), "completed: built");
  const said = (await scenario.log(task)).flatMap((event) =>
    event.type === "message.added" ? [JSON.stringify(event.data.message.parts)] : [],
  );
  const steps = said.flatMap((part) => /sawing|planing|gluing/.exec(part)?.[0] ?? []);
  assert.deepEqual(steps, ["sawing", "planing", "gluing"]);
});

test("progress taken before the result is kept, however late the task reads it, and none is taken after it", async (t) => {
  const { scenario, spawn, ask } = await runtime(t);
  const { task, bearer } = await spawn("Build.", { ack_ms: 2_000 });
  const progress = (text: string): Sending => ({
    method: "POST",
    path: "/v1/worker/events",
    bearer,
    body: { events: [{ type: "progress", text }] },
  });
  // Paused, the task does not get to what is posted to it before all of it is there.
  await scenario.client.pause();
  for (const text of ["sawing", "planing", "gluing"]) assert.equal((await ask(progress(text))).status, 200);
  assert.equal((await ask(submit(bearer, "built"))).status, 200);
  assert.deepEqual(reasonIn(await ask(progress("cleaning up"))), [409, "already_posted"]);
  await scenario.client.resume();
  assert.equal(await scenario.outcome(task), "completed: built");
  const said = (await scenario.log(task)).flatMap((event) =>
    event.type === "message.added" && event.data.message.role === "assistant"
      ? [event.data.message.parts[0]?.data]
      : [],
  );
  assert.deepEqual(said, ["sawing", "planing", "gluing"]);
});

test("a bearer that is foreign, altered or of a canceled task is refused with its reason (invariant 13)", async (t) => {
  const { daemon, scenario, spawn, ask } = await runtime(t);
  const [one, two] = [await spawn("One."), await spawn("Two.")];
  const prompt = (bearer: string | undefined, task: string): Sending => ({
    path: `/v1/worker/prompt?task_id=${task}`,
    bearer,
  });
  assert.deepEqual(reasonIn(await ask(prompt(undefined, one.frame.task_id))), [401, "no_bearer"]);
  assert.equal((await ask(prompt(daemon.key, one.frame.task_id))).status, 401, "an admin is no worker");
  assert.deepEqual(reasonIn(await ask(prompt(`wh-${"0".repeat(32)}`, one.frame.task_id))), [401, "unknown_handle"]);
  assert.deepEqual(reasonIn(await ask(prompt(two.bearer, one.frame.task_id))), [403, "wrong_task"]);
  const token = one.frame.capability_token;
  for (const at of [0, 4, Math.floor(token.length / 2), token.length - 1]) {
    const changed = `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
    assert.equal((await ask(prompt(changed, one.frame.task_id))).status, 401, `changed at ${at}`);
  }
  const named = { task_id: one.frame.task_id, value: "late", attempt: 2 };
  const wrong = { method: "POST", path: "/v1/worker/result", bearer: one.bearer, body: named } as const;
  assert.deepEqual(reasonIn(await ask(wrong)), [409, "wrong_attempt"]);
  await scenario.client.cancel(one.task, "enough");
  await scenario.client.result(one.task);
  assert.deepEqual(reasonIn(await ask(submit(one.bearer, "built"))), [410, "attempt_over"]);
  await daemon.restartKilled();
  assert.deepEqual(reasonIn(await ask(submit(one.bearer, "built"))), [410, "attempt_over"]);
  for (const path of ["/v1/tasks", "/v1/events", "/v1/status"]) {
    assert.equal((await ask({ path, bearer: two.bearer })).status, 401, `a worker is nobody at ${path}`);
  }
});
