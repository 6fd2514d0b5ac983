// Operators over real sockets and a real daemon: delivery, redelivery, gates, seniors, takeover, misuse.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { type DaemonProcess, daemonFor } from "./daemon-process.ts";
import { asking, handed, talking } from "./scenario-invocations.ts";
import { type Scenario, scenarioOf } from "./scenario.ts";
import { send } from "./send-json.ts";
import { joinAs, type WireOperator } from "./wire-operator.ts";

async function setting(t: TestContext): Promise<{ daemon: DaemonProcess; scenario: Scenario }> {
  const daemon = await daemonFor(t);
  return { daemon, scenario: scenarioOf(daemon) };
}

async function joined(t: TestContext, daemon: DaemonProcess, ...roles: string[]): Promise<WireOperator> {
  const operator = await joinAs(daemon, roles);
  t.after(() => operator.close());
  return operator;
}

const gatedBy = (gate: string): Record<string, unknown> => ({ operators: { gate } });

test("after a kill, a spawn not taken up is delivered again, marked as a repeat, with fresh rights for its attempt", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "builder");
  const task = await scenario.start(handed({ operator: "builder" }));
  const first = await (await operator.connect()).next("spawn");
  assert.equal(first.redelivered, undefined);
  assert.ok((first.deadline ?? 0) > Date.now(), "it says until when");
  await daemon.restartKilled();
  const socket = await operator.connect();
  const again = await socket.next("spawn");
  const { capability_token, worker_handle, directive, ...same } = again;
  const { capability_token: oldToken, worker_handle: oldHandle, directive: oldDirective, ...before } = first;
  assert.deepEqual(same, { ...before, redelivered: true });
  assert.notEqual(capability_token, oldToken);
  assert.notEqual(worker_handle, oldHandle);
  assert.notEqual(directive, oldDirective, "the directive names the fresh handle");
  const path = `/v1/worker/prompt?task_id=${again.task_id}`;
  for (const bearer of [oldToken, oldHandle, capability_token, worker_handle]) {
    assert.equal((await send(daemon.url, { path, bearer })).status, 200, "whoever holds one of them may do the work");
  }
  await send(daemon.url, { method: "POST", path: "/v1/worker/submit", bearer: worker_handle, body: "built" });
  socket.send({ type: "spawn_ack", req_id: again.req_id, value: {}, ok: true });
  assert.equal(await scenario.outcome(task), "completed: built");
});

test("a spawn whose prompt was fetched is not delivered again after a drop or a kill, and its handle still works", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "builder");
  const task = await scenario.start(handed({ operator: "builder", ack_ms: 0 }));
  const socket = await operator.connect();
  const spawn = await socket.next("spawn");
  const bearer = spawn.worker_handle;
  assert.equal((await send(daemon.url, { path: `/v1/worker/prompt?task_id=${spawn.task_id}`, bearer })).status, 200);
  await socket.drop();
  await daemon.restartKilled();
  const later = await operator.connect();
  // Requests go out in their order: what comes with the next one shows what did not come before it.
  await scenario.start(handed({ operator: "builder" }, {}, "Build another."));
  const next = await later.next("spawn");
  assert.notEqual(next.task_id, spawn.task_id);
  assert.equal(later.frames.length, 1);
  await send(daemon.url, { method: "POST", path: "/v1/worker/submit", bearer, body: "built" });
  assert.equal(await scenario.outcome(task), "completed: built");
});

test("requests to an operator that is away wait for it, and come in their order when it connects", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "builder");
  const tasks: string[] = [];
  for (const text of ["one", "two", "three"]) {
    const task = await scenario.start(handed({ operator: "builder" }, {}, text));
    tasks.push((await scenario.happened(task, "wait.opened", ({ data }) => data.label === "operator.spawn")).task);
  }
  await daemon.restartKilled();
  const socket = await operator.connect();
  await socket.next("spawn", ({ task_id }) => task_id === tasks[2]);
  assert.deepEqual(
    socket.frames.map((frame) => (frame.type === "spawn" ? [frame.task_id, frame.redelivered] : frame)),
    tasks.map((task) => [task, undefined]),
  );
});

test("a newer connection takes over: the older one is told so, and what is open comes again on the newer one", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "keeper");
  const task = await scenario.start(talking(1, gatedBy("keeper")));
  const older = await operator.connect();
  const first = await older.next("hook_before");
  const newer = await operator.connect();
  assert.deepEqual(await older.closed, { code: 4001, reason: "replaced by a newer connection" });
  const again = await newer.next("hook_before");
  assert.deepEqual(again, { ...first, redelivered: true });
  newer.send({ type: "hook_ack", req_id: again.req_id, ok: true });
  assert.equal(await scenario.outcome(task), "completed: talked");
  const after = await newer.next("hook_after");
  assert.equal(after.outcome, "completed");
  assert.equal(after.task_id, again.task_id);
});

test("a gate that refuses ends the task with its reason, and nothing of the task has run", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "keeper");
  const task = await scenario.start(talking(1, gatedBy("keeper")));
  const socket = await operator.connect();
  const { req_id } = await socket.next("hook_before");
  socket.send({ type: "hook_ack", req_id, ok: false, reason: "not on a Sunday" });
  assert.match(await scenario.outcome(task), /^failed: .*not on a Sunday/);
  const log = await scenario.log(task);
  const failed = log.find((event) => event.type === "task.failed" && event.task !== task);
  assert.ok(failed?.type === "task.failed" && failed.data.error.code === "refused", JSON.stringify(failed));
  assert.ok(!log.some(({ type }) => type === "step.finished" || type === "message.added"));
});

test("a gate that leaves, or is away when it is torn down, fails closed", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "keeper");
  const task = await scenario.start(talking(1, gatedBy("keeper")));
  const socket = await operator.connect();
  await socket.next("hook_before");
  const leaving = { method: "DELETE", path: `/v1/operators/${operator.sid}`, bearer: operator.token } as const;
  assert.equal((await send(daemon.url, leaving)).status, 204);
  assert.equal((await socket.closed).code, 1000);
  assert.match(await scenario.outcome(task), /^failed: .*left/);
  assert.equal((await send(daemon.url, leaving)).status, 404, "the session is gone");
  const away = await joined(t, daemon, "keeper");
  const second = await scenario.start(talking(1, gatedBy("keeper")));
  await scenario.happened(second, "wait.opened", ({ data }) => data.label === "operator.hook_before");
  const torn = { method: "DELETE", path: `/v1/operators/${away.sid}`, bearer: daemon.key } as const;
  assert.equal((await send(daemon.url, torn)).status, 204);
  assert.match(await scenario.outcome(second), /^failed: .*left/);
});

test("a reply of the wrong kind, to an unknown request, or in no shape is named, and the request stays answerable", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "keeper");
  const task = await scenario.start(talking(1, gatedBy("keeper")));
  const socket = await operator.connect();
  const { req_id } = await socket.next("hook_before");
  socket.send({ type: "answer", req_id, value: true });
  assert.equal((await socket.next("error")).code, "wrong_kind");
  const unknown = `${operator.sid}-hb-00000000-0000-4000-8000-000000000000`;
  socket.send({ type: "hook_ack", req_id: unknown, ok: true });
  await socket.next("error", ({ code }) => code === "unknown_request");
  socket.send("{");
  await socket.next("error", ({ code }) => code === "bad_json");
  socket.send({ type: "hook_ack", req_id, ok: true });
  assert.equal(await scenario.outcome(task), "completed: talked");
  socket.send({ type: "hook_ack", req_id, ok: false });
  await socket.next("error", ({ code }) => code === "already_answered");
  await daemon.restartKilled();
  const later = await operator.connect();
  later.send({ type: "hook_ack", req_id, ok: false });
  assert.equal(
    (await later.next("error")).code,
    "already_answered",
    "a request is known by its id after a restart too",
  );
});

test("a client that does not offer the subprotocol sees no error frames", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "keeper");
  await scenario.start(talking(1, gatedBy("keeper")));
  const socket = await operator.connect({ bare: true });
  const { req_id } = await socket.next("hook_before");
  socket.send("{");
  socket.send({ type: "hook_ack", req_id, ok: true });
  await socket.next("hook_after");
  assert.deepEqual(
    socket.frames.map(({ type }) => type),
    ["hook_before", "hook_after"],
  );
});

test("the senior's answer counts when it is first, and the inbox is told; after it the inbox has nothing", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "boss");
  const socket = await operator.connect();
  const task = await scenario.start(asking({ operators: { senior: "boss" } }));
  const ask = await scenario.asked(task);
  const frame = await socket.next("ask");
  socket.send({ type: "answer", req_id: frame.req_id, value: "red" });
  assert.equal(await scenario.outcome(task), "completed: took red");
  assert.deepEqual(await scenario.client.asks(task), []);
  const late = await scenario.answer(ask, "blue");
  assert.ok(!late.accepted && late.code === "late", JSON.stringify(late));
  const answered = await scenario.happened(task, "ask.answered");
  assert.equal(answered.data.by.kind, "operator");
});

test("a person's answer counts when it is first, and the senior is told", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "boss");
  const socket = await operator.connect();
  const task = await scenario.start(asking({ operators: { senior: "boss" } }));
  const ask = await scenario.asked(task);
  const frame = await socket.next("ask");
  assert.deepEqual(await scenario.answer(ask, "blue"), { accepted: true });
  socket.send({ type: "answer", req_id: frame.req_id, value: "red" });
  assert.equal((await socket.next("error")).code, "already_answered");
  assert.equal(await scenario.outcome(task), "completed: took blue");
});

test("what an operator says of a spawn: an error fails it even after a result, a value alone is the result", async (t) => {
  const { daemon, scenario } = await setting(t);
  const operator = await joined(t, daemon, "builder");
  const socket = await operator.connect();
  const bad = await scenario.start(handed({ operator: "builder" }, {}, "One."));
  const first = await socket.next("spawn");
  const post = { method: "POST", path: "/v1/worker/submit", body: "built" } as const;
  assert.equal((await send(daemon.url, { ...post, bearer: first.worker_handle })).status, 200);
  socket.send({ type: "spawn_ack", req_id: first.req_id, ok: false, error: "it fell over" });
  assert.match(await scenario.outcome(bad), /^failed: .*it fell over/);
  const good = await scenario.start(handed({ operator: "builder" }, {}, "Two."));
  const second = await socket.next("spawn", ({ req_id }) => req_id !== first.req_id);
  socket.send({ type: "spawn_ack", req_id: second.req_id, value: { parts: 3 } });
  assert.equal(await scenario.outcome(good), 'completed: {"parts":3}');
});

test("a browser connects with a ticket, once; without a bearer, with another's or a made-up one nobody gets in", async (t) => {
  const { daemon } = await setting(t);
  const [one, two] = [await joined(t, daemon), await joined(t, daemon)];
  const ticketOf = async ({ sid, token }: WireOperator): Promise<string> => {
    const reply = await send(daemon.url, { method: "POST", path: `/v1/operators/${sid}/ticket`, bearer: token });
    assert.equal(reply.status, 200, reply.text);
    return String((reply.json as { ticket: string }).ticket);
  };
  const ticket = await ticketOf(one);
  await one.connect({ ticket });
  await assert.rejects(one.connect({ ticket }), /401/, "it was for one connection");
  await assert.rejects(one.connect({ ticket: await ticketOf(two) }), /401/, "it is another session's");
  await assert.rejects(one.connect({ ticket: `ti-${"0".repeat(32)}` }), /401/);
  const { sid } = one;
  assert.equal((await send(daemon.url, { path: `/v1/operators/${sid}`, bearer: two.token })).status, 401);
});
