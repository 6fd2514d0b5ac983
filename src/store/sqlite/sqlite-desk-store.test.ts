import assert from "node:assert/strict";
import { test } from "node:test";

import { leftBy, seen, tempFolder, world } from "../../../test/engine-kit.ts";
import type { DeskStore } from "../desk-store.ts";
import { openStore } from "./sqlite-store.ts";
import { pruneTrees } from "./prune.ts";

const key = { id: "k1", name: "laptop", role: "viewer", digest: "d1", created_at: 1, revoked_at: null } as const;
const operator = { sid: "s1", digest: "d2", roles: ["gate", "senior"], created_at: 2, seen_at: 3, api_key: "key_1" };
const sent = { wait: 7, sid: "s1", at: 4 };
const handle = { digest: "d3", claims: '{"task":"t"}', expires_at: 50 };
const lease = { task: 5, attempt: 2, due: 60, fetched_at: null, posted_at: null, void_until: 0 };
const notice = { id: "n1", target: "hook", body: "{}", tries: 0, due: 9, created_at: 8 };

function fill(desk: DeskStore): void {
  desk.addKey(key);
  desk.putOperator(operator);
  desk.putSent(sent);
  desk.putHandle(handle);
  desk.putLease(lease);
  desk.putNotice(notice);
  desk.putSetting("colour", "blue");
}

function all(desk: DeskStore): unknown[] {
  const { task, attempt } = lease;
  return [
    desk.keys(),
    desk.operators(),
    desk.sent(sent.wait),
    desk.handle(handle.digest),
    desk.lease(task, attempt),
    desk.notices(),
    desk.setting("colour"),
  ];
}

test("what the desk keeps comes back as it was, once it is committed and after the store is opened again", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  assert.deepEqual(all(store.desk), [[], [], undefined, undefined, undefined, [], undefined]);
  fill(store.desk);
  assert.equal(store.desk.sent(sent.wait), undefined, "reads see what is committed");
  await store.committed();
  const whole = [[key], [operator], sent, handle, lease, [notice], "blue"];
  assert.deepEqual(all(store.desk), whole);
  store.close();
  const again = openStore(folder);
  t.after(() => again.close());
  assert.deepEqual(all(again.desk), whole);
});

test("a row of the same key is replaced, and what is removed is gone", async (t) => {
  const store = openStore(tempFolder(t));
  t.after(() => store.close());
  const { desk } = store;
  fill(desk);
  desk.revokeKey(key.id, 70);
  desk.revokeKey(key.id, 71);
  desk.putOperator({ ...operator, seen_at: 30, api_key: "key_1" });
  desk.putSent({ ...sent, sid: "s2" });
  desk.putLease({ ...lease, posted_at: 66, void_until: 0 });
  desk.putLease({ ...lease, attempt: 3 });
  desk.putNotice({ ...notice, tries: 1 });
  desk.putSetting("colour", "red");
  desk.putHandle({ ...handle, digest: "d4", expires_at: 51 });
  desk.dropHandles(51);
  await store.committed();
  assert.deepEqual(
    [desk.keys()[0]?.revoked_at, desk.operators(), desk.sent(sent.wait)?.sid, desk.setting("colour")],
    [70, [{ ...operator, seen_at: 30, api_key: "key_1" }], "s2", "red"],
    "a key that is revoked stays revoked as of the first time",
  );
  assert.deepEqual(
    [desk.lease(5, 2)?.posted_at, desk.lease(5, 3)?.posted_at, desk.notices().map((each) => each.tries)],
    [66, null, [1]],
  );
  assert.deepEqual([desk.handle("d3"), desk.handle("d4")?.expires_at], [undefined, 51]);
  desk.removeOperator(operator.sid);
  desk.removeNotice(notice.id);
  await store.committed();
  assert.deepEqual([desk.operators(), desk.notices()], [[], []]);
});

test("a key's digest is there once: the same id again is an error, not another key", async (t) => {
  const store = openStore(tempFolder(t));
  store.desk.addKey(key);
  await store.committed();
  store.desk.addKey({ ...key, name: "other" });
  await assert.rejects(store.committed());
  store.close();
});

test("the desk's rows and the store's of one tick are one commit, all there after a kill or none", async (t) => {
  const w = world(tempFolder(t), {});
  t.after(() => w.stop());
  const store = w.store;
  let commits = 0;
  store.onCommit(() => (commits += 1));
  const opened = openStore(tempFolder(t));
  t.after(() => opened.close());
  opened.onCommit(() => (commits += 1));
  opened.addMail(1, "{}");
  fill(opened.desk);
  await opened.committed();
  assert.equal(commits, 1);
  store.putSetting("colour", "green");
  assert.deepEqual(seen(leftBy(w, t), "SELECT 1 FROM meta WHERE key LIKE 'setting_%'"), [], "queued is not yet kept");
  await store.committed();
  assert.equal(seen(leftBy(w, t), "SELECT 1 FROM meta WHERE key LIKE 'setting_%'").length, 1);
});

test("pruning takes the leases and the sent requests of the trees it removes, and nobody else's", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  const row = {
    parent: null,
    root: null,
    depth: 0,
    kind: "loop",
    agent: "a",
    detached: false,
    created_at: 1,
    deadline: null,
    shared: null,
    body: "{}",
  } as const;
  const [old, current] = [store.addTask(row), store.addTask(row)];
  for (const task of [old, current]) {
    const run = store.addRun({ task, attempt: 1, run: 1, body: null });
    const wait = store.addWait({ task, root: task, run, key: "w", raised_at: 1, due: 2, body: "{}" });
    store.addAnswer({ wait, kind: "withdrawn", at: 2, body: null });
    store.desk.putSent({ wait, sid: "s1", at: 1 });
    store.desk.putLease({ ...lease, task });
  }
  store.addResult({ task: old, status: "completed", at: 5, body: "{}" });
  store.close();
  assert.equal(pruneTrees(folder, { endedBefore: 10 }).trees, 1);
  assert.deepEqual(
    seen(folder, "SELECT task FROM leases").map((each) => each["task"]),
    [current],
  );
  assert.equal(seen(folder, "SELECT wait FROM sent").length, 1);
});
