// Operators and workers of a service that runs on several nodes: any node takes their calls, and each thing happens once.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { workerClient } from "../../src/client/worker-client.ts";
import { TuttiError } from "../../src/protocol/error.ts";
import { idInName } from "../../src/store/names.ts";
import { send } from "../e2e/send-json.ts";
import { person } from "../support/engine-kit.ts";
import { connectTo, joinAt, type ServingNode, serveNode } from "../support/serving-node.ts";
import { operatorTask } from "../support/operator-kit.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import type { Cleanup } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

async function twoNodes(t: Cleanup, settings: { readonly leaseMs?: number } = {}): Promise<[ServingNode, ServingNode]> {
  const address = newDatabase();
  const a = await serveNode(t, address, { name: "a", ...settings });
  return [a, await serveNode(t, address, { name: "b", ...settings })];
}

test(
  "an operator at one node gets the work of another, and its worker is served wherever it calls",
  { skip },
  async (t) => {
    const [a, b] = await twoNodes(t);
    const operator = await joinAt(a, ["builder"]);
    // At once: what one node has just recorded, the other knows.
    const socket = await connectTo(t, b, operator);
    const { task } = await a.state.tasks.start(operatorTask({ operator: "builder" }, "build it"));
    const spawn = await socket.next("spawn");
    assert.equal(spawn.task_id, task);
    const at = ({ url }: ServingNode) =>
      workerClient({ base_url: url, handle: spawn.worker_handle ?? "", task_id: task });

    assert.equal((await at(b).prompt()).prompt, "build it");
    await at(b).progress("half way");
    await at(a).progress("almost there");
    socket.send({ type: "spawn_ack", req_id: spawn.req_id, ok: true });
    const asking = at(b).ask("Which colour?", { key: "colour" });
    const ask = await until(async () => (await b.state.client.asks())[0], "the worker's question is asked");
    await b.state.client.answer(ask.id, { kind: "question", value: "blue" }, person);
    assert.deepEqual(await asking, { state: "answered", value: "blue" });

    // Both at once, at different nodes: one of them is recorded, and the other is told so.
    const posted = await Promise.all([at(a).submit("done"), at(b).submit("done")]);
    assert.deepEqual(
      posted.map(({ already }) => String(already)).toSorted((a, b) => a.localeCompare(b)),
      ["false", "true"],
    );
    assert.equal((await b.state.tasks.result(task)).content, "done");
    assert.deepEqual(await at(b).submit("done"), { recorded: true, already: true }, "also after the task is over");
    await assert.rejects(at(b).submit("something else"), (thrown) => {
      assert.deepEqual(thrown instanceof TuttiError ? thrown.details : thrown, { reason: "already_posted" });
      return true;
    });
    const said = (await a.state.view.messages(taskRow(a, task), { after: 0, limit: 100 })).rows;
    assert.equal(said.filter(({ body }) => body?.includes("half way")).length, 1);
  },
);

function taskRow({ state }: ServingNode, task: string): number {
  return idInName(state.store.salt, task) ?? assert.fail();
}

test("of two operators that join under one name at two nodes, one wins", { skip }, async (t) => {
  const [a, b] = await twoNodes(t);
  const join = async (node: ServingNode) =>
    send(node.url, { method: "POST", path: "/v1/operators", bearer: node.key, body: { roles: ["reviewer"] } });
  for (let round = 0; round < 5; round += 1) {
    const replies = await Promise.all([join(a), join(b)]);
    const statuses = replies.map(({ status }) => status).toSorted((one, other) => one - other);
    assert.deepEqual(statuses, [200, 409], JSON.stringify(replies));
    const held = await until(() => a.state.operators.list().length === 1 && a.state.operators.list()[0]);
    assert.equal(await a.state.operators.leave(held.sid, "the round is over"), true);
    await until(() => b.state.operators.list().length === 0, "the other node knows that it left");
  }
});

const refusedFor = async (calling: Promise<unknown>): Promise<unknown> => {
  const thrown = await calling.then(
    () => "it was taken",
    (error: unknown) => error,
  );
  return thrown instanceof TuttiError ? (thrown.details?.["reason"] ?? thrown.code) : thrown;
};

test("a key that is revoked at one node is refused at all, and what came from it ends there", { skip }, async (t) => {
  const [a, b] = await twoNodes(t);
  const { id, key } = await a.state.keys.add({ name: "of the builder", role: "operator" });
  const operator = await joinAt(b, ["builder"], key);
  const socket = await connectTo(t, b, operator);
  const { task } = await b.state.tasks.start(operatorTask({ operator: "builder" }));
  const { worker_handle: handle = "" } = await socket.next("spawn");
  const worker = workerClient({ base_url: b.url, handle, task_id: task, giveUpAfterMs: 0 });
  await worker.prompt();
  await worker.progress("at work");

  await a.state.keys.revoke(id);
  for (const { url } of [a, b]) {
    assert.equal((await send(url, { path: "/v1/tasks", bearer: key })).status, 401, url);
    const again = { method: "POST", path: "/v1/operators", bearer: key, body: { roles: ["again"] } } as const;
    assert.equal((await send(url, again)).status, 401, url);
    const late = workerClient({ base_url: url, handle, task_id: task, giveUpAfterMs: 0 });
    assert.equal(await refusedFor(late.submit("too late")), "key_revoked", url);
  }
  assert.deepEqual(await socket.closed, { code: 1000, reason: "operator session torn down" });
  await assert.rejects(connectTo(t, b, operator), /404/);
  // The task does not wait for a worker that nothing is accepted from: it asks what to do.
  await until(async () => (await a.state.client.asks())[0], "the task asks what to do");
});

test(
  "work for any operator goes to one of those at all nodes; when it leaves, another gets it and the first rights are void",
  { skip },
  async (t) => {
    const [a, b] = await twoNodes(t);
    const nodes = [a, b] as const;
    const operators = [await joinAt(a, []), await joinAt(b, [])] as const;
    const sockets = [await connectTo(t, a, operators[0]), await connectTo(t, b, operators[1])] as const;
    const { task } = await a.state.tasks.start(operatorTask({ operator: "any" }));
    const first = await Promise.any(
      sockets.map(async (socket, at) => ({ spawn: await socket.next("spawn"), at, other: at === 0 ? 1 : 0 }) as const),
    );
    const { spawn, at, other } = first;
    // The other one is told through the other node.
    const left = await send(nodes[other].url, {
      method: "DELETE",
      path: `/v1/operators/${operators[at]?.sid}`,
      bearer: nodes[other].key,
    });
    assert.equal(left.status, 204, left.text);
    const moved = await sockets[other].next("spawn");
    assert.equal(sockets[other].frames.filter(({ type }) => type === "spawn").length, 1);
    assert.deepEqual([moved.task_id, moved.redelivered], [task, undefined]);
    const worker = (handle = ""): ReturnType<typeof workerClient> =>
      workerClient({ base_url: a.url, handle, task_id: task, giveUpAfterMs: 0 });
    assert.equal(await refusedFor(worker(spawn.worker_handle).prompt()), "offered_again");
    await worker(moved.worker_handle).prompt();
    sockets[other].send({ type: "spawn_ack", req_id: moved.req_id, ok: true });
    await worker(moved.worker_handle).submit("done");
    assert.equal((await b.state.tasks.result(task)).content, "done");
  },
);

test(
  "an operator that comes back at another node gets its open requests again, and a gate is told once how a task ended",
  { skip },
  async (t) => {
    const [a, b] = await twoNodes(t);
    const gate = await joinAt(a, ["guard"]);
    const first = await connectTo(t, a, gate);
    const input = { operators: { gate: "guard", senior: "guard" } };
    const { task } = await a.state.tasks.start(operatorTask({ operator: "guard" }, input));
    const asked = await first.next("hook_before");
    assert.equal(asked.redelivered, undefined);
    const second = await connectTo(t, b, gate);
    assert.deepEqual(await first.closed, { code: 4001, reason: "replaced by a newer connection" });
    for (const { state } of [a, b]) {
      assert.deepEqual(
        (await state.client.operators()).map(({ sid, connected }) => ({ sid, connected })),
        [{ sid: gate.sid, connected: true }],
      );
    }
    const again = await second.next("hook_before");
    assert.deepEqual([again.req_id, again.redelivered], [asked.req_id, true]);
    second.send({ type: "hook_ack", req_id: again.req_id, ok: true });
    const spawn = await second.next("spawn");
    second.send({ type: "spawn_ack", req_id: spawn.req_id, ok: true });
    const worker = workerClient({ base_url: b.url, handle: spawn.worker_handle ?? "", task_id: task });
    const asking = worker.ask("Which?", { key: "q" });
    const question = await second.next("ask");
    second.send({ type: "answer", req_id: question.req_id, value: "that one" });
    assert.deepEqual(await asking, { state: "answered", value: "that one" });
    await worker.submit("done");
    const { outcome, task_id } = await second.next("hook_after");
    assert.deepEqual([outcome, task_id], ["completed", task]);
    await Promise.all([a, b].map(({ state }) => state.tasks.result(task)));
    const told = [...first.frames, ...second.frames].filter(({ type }) => type === "hook_after");
    assert.equal(told.length, 1);
  },
);

test("while the node of a task goes away, its worker waits and is served by the next one", { skip }, async (t) => {
  const [a, b] = await twoNodes(t, { leaseMs: 2_000 });
  const operator = await joinAt(b, ["builder"]);
  const socket = await connectTo(t, b, operator);
  const { task } = await a.state.tasks.start(operatorTask({ operator: "builder" }));
  const { worker_handle: handle = "", req_id } = await socket.next("spawn");
  socket.send({ type: "spawn_ack", req_id, ok: true });
  const worker = workerClient({ base_url: b.url, handle, task_id: task, giveUpAfterMs: 0 });
  await worker.prompt();
  const leaving = a.close();
  for (let posts = 0; posts < 10; posts += 1) await worker.progress(`at ${posts}`);
  await leaving;
  assert.deepEqual(await worker.submit("done"), { recorded: true, already: false });
  assert.equal((await b.state.tasks.result(task)).content, "done");
});
