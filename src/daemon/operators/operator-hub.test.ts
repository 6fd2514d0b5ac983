import assert from "node:assert/strict";
import { test } from "node:test";

import {
  connected,
  eventOf,
  joined,
  killed,
  loopTask,
  openKit,
  operatorTask,
  restarted,
} from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";

test("an operator gets all its names or none, a conflict lists them, and they are free when the holder leaves", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const first = await joined(kit, "reviewer", "ops");
  assert.deepEqual(await kit.hub.join(["builder", "ops", "reviewer"], "test"), {
    ok: false,
    conflicts: ["ops", "reviewer"],
  });
  await joined(kit, "builder");
  assert.equal(await kit.hub.leave(first.sid, "done"), true);
  assert.equal(await kit.hub.leave(first.sid, "done"), false);
  await joined(kit, "ops");
});

test("an operator session is authenticated by its own token alone, over a restart, until it leaves", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const [one, two] = [await joined(kit, "one"), await joined(kit, "two")];
  kit = await restarted(t, kit);
  assert.equal(kit.hub.authenticates(one.sid, one.token), "yes");
  assert.equal(kit.hub.authenticates(one.sid, two.token), "no");
  assert.equal(kit.hub.authenticates(one.sid, `${one.token}0`), "no");
  assert.equal(kit.hub.authenticates("op-0a1b2c3d-0000-4000-8000-0123456789ab", one.token), "unknown_sid");
  await kit.hub.leave(one.sid, "done");
  kit = await restarted(t, kit);
  assert.equal(kit.hub.authenticates(one.sid, one.token), "unknown_sid");
  assert.deepEqual(
    kit.hub.list().map(({ sid, roles, connected: on }) => ({ sid, roles, on })),
    [{ sid: two.sid, roles: ["two"], on: false }],
  );
});

test("a task waits for an operator; its spawn carries deadline, token, handle and a directive", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { task } = await kit.engine.start(operatorTask({ operator: "builder", deadline_ms: 60_000_000 }));
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid);
  const spawn = await peer.next("spawn");
  assert.equal(spawn.task_id, task);
  assert.equal(spawn.attempt, 1);
  assert.equal(spawn.deadline, kit.clock.now() + 60_000_000);
  assert.equal(spawn.redelivered, undefined);
  assert.match(spawn.req_id, new RegExp(`^${sid}-spawn-[0-9a-f-]{36}$`));
  assert.match(spawn.capability_token, /^tt1\./);
  assert.ok(spawn.directive.includes(`worker_handle: ${spawn.worker_handle}`));
  assert.ok(spawn.directive.includes("base_url: http://127.0.0.1:7"));
  peer.send({ type: "spawn_ack", req_id: spawn.req_id, value: { done: 1 } });
  assert.deepEqual((await kit.engine.result(task)).content, { done: 1 });
});

test("lost frames are sent again in order, marked, with the same req_id and a fresh token", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const tasks = [];
  for (let n = 0; n < 5; n += 1) tasks.push((await kit.engine.start(operatorTask({ operator: "builder" }))).task);
  const peer = await connected(kit, sid);
  const first = [];
  for (const _ of tasks) first.push(await peer.next("spawn"));
  await peer.drop();
  await until(() => kit.hub.info(sid)?.connected === false);
  assert.equal(kit.hub.info(sid)?.pending, 5);
  const again = await connected(kit, sid);
  for (const before of first) {
    const frame = await again.next("spawn");
    assert.equal(frame.req_id, before.req_id);
    assert.equal(frame.redelivered, true);
    assert.notEqual(frame.capability_token, before.capability_token);
  }
  await again.drop();
  kit = await killed(t, kit);
  const third = await connected(kit, sid);
  for (const before of first) {
    const frame = await third.next("spawn");
    assert.deepEqual([frame.req_id, frame.redelivered], [before.req_id, true]);
    third.send({ type: "spawn_ack", req_id: frame.req_id, value: frame.task_id });
  }
  for (const task of tasks) assert.equal((await kit.engine.result(task)).content, task);
});

test("a spawn whose prompt was fetched is not sent again, and can still be acknowledged", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const { task } = await kit.engine.start(operatorTask({ operator: "builder" }));
  const peer = await connected(kit, sid);
  const spawn = await peer.next("spawn");
  const fetched = await kit.workers.prompt(spawn.worker_handle, { task_id: task });
  assert.equal(fetched.ok, true);
  await peer.drop();
  kit = await killed(t, kit);
  const again = await connected(kit, sid);
  const marker = await kit.engine.start(operatorTask({ operator: "builder" }));
  assert.equal((await again.next("spawn")).task_id, marker.task);
  again.send({ type: "spawn_ack", req_id: spawn.req_id, value: 7 });
  assert.equal((await kit.engine.result(task)).content, 7);
});

test("a newer connection replaces the older one, which is closed with 4001 and no longer counts", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const old = await connected(kit, sid);
  await kit.engine.start(operatorTask({ operator: "builder" }));
  const { req_id } = await old.next("spawn");
  old.socket.pause();
  const young = await connected(kit, sid);
  assert.equal((await young.next("spawn")).req_id, req_id);
  old.send({ type: "spawn_ack", req_id, value: "from the old socket" });
  old.socket.resume();
  assert.deepEqual(await old.closed, { code: 4001, reason: "replaced by a newer connection" });
  assert.equal(kit.hub.info(sid)?.connected, true);
  const next = await kit.engine.start(operatorTask({ operator: "builder" }));
  assert.equal((await young.next("spawn")).task_id, next.task);
  young.send({ type: "spawn_ack", req_id, value: "from the new socket" });
  const done = await eventOf(kit, "task.completed");
  assert.equal(done.data.content, "from the new socket");
});

test("a reply that is of the wrong kind, unknown, broken or binary gets an error, and the request still waits", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid);
  const { task } = await kit.engine.start(operatorTask({ operator: "builder" }));
  const { req_id } = await peer.next("spawn");
  const cases: [unknown, string][] = [
    [{ type: "hook_ack", req_id, ok: true }, "wrong_kind"],
    [{ type: "answer", req_id, value: 1 }, "wrong_kind"],
    [
      { type: "spawn_ack", req_id: `${req_id.slice(0, -1)}${req_id.endsWith("0") ? "1" : "0"}`, value: 1 },
      "unknown_request",
    ],
    [{ type: "spawn_ack", req_id: "nonsense", value: 1 }, "unknown_request"],
    [{ type: "spawn_halt", req_id }, "unknown_type"],
    [{ type: "hook_ack", req_id }, "bad_frame"],
    ["{", "bad_json"],
    ["x".repeat(1024 * 1024 + 1), "too_large"],
  ];
  for (const [frame, code] of cases) {
    peer.send(frame);
    assert.equal((await peer.next("error")).code, code);
  }
  peer.socket.send(Buffer.from("{}"));
  assert.equal((await peer.next("error")).code, "not_text");
  peer.send({ type: "spawn_ack", req_id, value: "after all" });
  assert.equal((await kit.engine.result(task)).content, "after all");
  peer.send({ type: "spawn_ack", req_id, value: "again" });
  const error = await peer.next("error");
  assert.deepEqual([error.code, error.req_id], ["already_answered", req_id]);
});

test("a client that did not offer tutti.v1 gets no error frame", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid, []);
  peer.send("{");
  peer.socket.send(Buffer.from("{}"));
  peer.send({ type: "answer", req_id: "nonsense", value: 1 });
  await peer.settled();
  const { task } = await kit.engine.start(operatorTask({ operator: "builder" }));
  await peer.next("spawn");
  assert.deepEqual(
    peer.frames.map(({ type, ...rest }) => ("task_id" in rest ? [type, rest.task_id] : [type])),
    [["spawn", task]],
  );
});

test("the req_id of another operator session is unknown", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const [one, two] = [await joined(kit, "builder"), await joined(kit)];
  const [mine, other] = [await connected(kit, one.sid), await connected(kit, two.sid)];
  await kit.engine.start(operatorTask({ operator: "builder" }));
  const { req_id } = await mine.next("spawn");
  other.send({ type: "spawn_ack", req_id, value: 1 });
  assert.equal((await other.next("error")).code, "unknown_request");
});

test("after a restart a reply to a settled request is still answered with already_answered or late", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  let peer = await connected(kit, sid);
  const [answered, over] = [
    await kit.engine.start(operatorTask({ operator: "builder" })),
    await kit.engine.start(operatorTask({ operator: "builder" })),
  ];
  const [first, second] = [await peer.next("spawn"), await peer.next("spawn")];
  peer.send({ type: "spawn_ack", req_id: first.req_id, value: 1 });
  await kit.engine.result(answered.task);
  await kit.engine.cancel(over.task, "no need");
  kit = await restarted(t, kit);
  peer = await connected(kit, sid);
  peer.send({ type: "spawn_ack", req_id: first.req_id, value: 2 });
  assert.equal((await peer.next("error")).code, "already_answered");
  peer.send({ type: "spawn_ack", req_id: second.req_id, value: 2 });
  assert.equal((await peer.next("error")).code, "late");
  assert.equal((await kit.engine.result(answered.task)).content, 1);
});

test("`any` is the connected operator with the fewest spawns, which keeps them while its session exists", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const [one, two, away] = [await joined(kit), await joined(kit), await joined(kit)];
  const peers = [await connected(kit, one.sid), await connected(kit, two.sid)] as const;
  for (let n = 0; n < 4; n += 1) {
    await kit.engine.start(operatorTask());
    await until(() => peers[0].frames.length + peers[1].frames.length === n + 1);
  }
  assert.deepEqual([peers[0].frames.length, peers[1].frames.length], [2, 2]);
  assert.equal(kit.hub.info(away.sid)?.pending, 0);
  await peers[0].drop();
  await until(() => kit.hub.info(one.sid)?.connected === false);
  assert.equal(kit.hub.info(one.sid)?.pending, 2);
  await kit.hub.leave(one.sid, "done");
  await until(() => peers[1].frames.length === 4);
  assert.ok(peers[1].frames.slice(2).every((frame) => frame.type === "spawn" && frame.redelivered === undefined));
});

test("when an operator session ends, its gates refuse, a spawn for its sid fails, and its connection closes", async (t) => {
  const kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "gate");
  const peer = await connected(kit, sid);
  const gated = await kit.engine.start(loopTask("worker", { operators: { gate: "gate" } }));
  const pinned = await kit.engine.start(operatorTask({ operator: sid }));
  await peer.next("spawn");
  await kit.hub.leave(sid, "going home");
  assert.deepEqual(await peer.closed, { code: 1000, reason: "operator session torn down" });
  for (const { task } of [gated, pinned]) await kit.engine.result(task);
  const refused = await eventOf(kit, "task.failed", gated.task);
  assert.equal(refused.data.error.code, "refused");
  assert.match(refused.data.error.message, /worker was not started: .*left: going home/);
  const failed = await eventOf(kit, "task.failed", pinned.task);
  assert.match(failed.data.error.message, /left: going home/);
});

test("a closing hub closes connections with 1001 and keeps the operator sessions", async (t) => {
  let kit = await openKit(t, tempFolder(t));
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid);
  kit = await restarted(t, kit);
  assert.deepEqual(await peer.closed, { code: 1001, reason: "going away" });
  assert.notEqual(kit.hub.info(sid), undefined);
});
