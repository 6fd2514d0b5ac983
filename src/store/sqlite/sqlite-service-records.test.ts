import assert from "node:assert/strict";
import { test } from "node:test";

import { taskRow as row } from "../../../test/support/task-row.ts";
import { seen, world } from "../../../test/support/engine-kit.ts";
import { leftByKill } from "../../../test/support/kill-process.ts";
import { isOnPostgres, openStoreIn } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { ServiceRecords } from "../service-records.ts";
import { pruneTrees } from "./prune-trees.ts";

const key = { id: "k1", name: "laptop", role: "viewer", digest: "d1", created_at: 1, revoked_at: null } as const;
const operator = { sid: "s1", digest: "d2", roles: ["gate", "senior"], created_at: 2, seen_at: 3, api_key: "key_1" };
const sent = { wait: 7, sid: "s1", at: 4 };
const handle = { digest: "d3", claims: '{"task":"t"}', expires_at: 50 };
const ticket = { digest: "d5", sid: "s1", expires_at: 40, claim: null, api_key: "k1" };
const lease = {
  task: 5,
  attempt: 2,
  due: 60,
  fetched_at: null,
  posted_at: null,
  void_until: 0,
  api_key: "k1",
  revoked_at: null,
};
const notice = { id: "n1", target: "hook", body: "{}", tries: 0, due: 9, created_at: 8 };

function fill(records: ServiceRecords): void {
  records.addKey(key);
  records.addOperator(operator);
  records.putSent(sent);
  records.putHandle(handle);
  records.addTicket(ticket);
  records.offerLease({ task: lease.task, attempt: lease.attempt, expires_at: lease.due }, { apiKey: "k1", at: 0 });
  records.putNotice(notice);
  records.putSetting("colour", "blue");
}

function all(records: ServiceRecords): unknown[] {
  const { task, attempt } = lease;
  return [
    records.keys(),
    records.operators(),
    records.sent(sent.wait),
    records.handle(handle.digest),
    records.ticket(ticket.digest),
    records.lease(task, attempt),
    records.notices(),
    records.setting("colour"),
  ];
}

test("what was written is read back once it is committed, and after the store is opened again", async (t) => {
  const folder = tempFolder(t);
  const store = openStoreIn(folder);
  assert.deepEqual(all(store.records), [[], [], undefined, undefined, undefined, undefined, [], undefined]);
  fill(store.records);
  assert.equal(store.records.sent(sent.wait), undefined, "reads see what is committed");
  await store.committed();
  const whole = [[key], [operator], sent, handle, ticket, lease, [notice], "blue"];
  assert.deepEqual(all(store.records), whole);
  store.close();
  const again = openStoreIn(folder);
  t.after(() => again.close());
  assert.deepEqual(all(again.records), whole);
});

test("a row of the same key is replaced, and what is removed is gone", async (t) => {
  const store = openStoreIn(tempFolder(t));
  t.after(() => store.close());
  const { records } = store;
  fill(records);
  records.revokeKey(key.id, 70);
  records.revokeKey(key.id, 71);
  records.touchOperator(operator.sid, 30);
  records.touchOperator(operator.sid, 20);
  records.putSent({ ...sent, at: 5 });
  records.putNotice({ ...notice, tries: 1 });
  records.putSetting("colour", "red");
  records.putHandle({ ...handle, digest: "d4", expires_at: 51 });
  await store.committed();
  for (const { digest } of records.expiredHandles(51)) records.dropHandle(digest);
  await store.committed();
  assert.deepEqual(
    [records.keys()[0]?.revoked_at, records.operators(), records.sent(sent.wait)?.at, records.setting("colour")],
    [70, [{ ...operator, seen_at: 30 }], 5, "red"],
    "a key that is revoked stays revoked as of the first time",
  );
  assert.deepEqual(
    records.notices().map((each) => each.tries),
    [1],
  );
  assert.deepEqual([records.handle("d3"), records.handle("d4")?.expires_at], [undefined, 51]);
  records.removeOperator(operator.sid);
  records.removeNotice(notice.id);
  await store.committed();
  assert.deepEqual([records.operators(), records.notices()], [[], []]);
});

test("an operator gets all its roles or none, and a role has one holder until that is removed", async (t) => {
  const store = openStoreIn(tempFolder(t));
  t.after(() => store.close());
  const { records } = store;
  records.addOperator(operator);
  records.addOperator({ ...operator, sid: "s2", roles: ["builder", "gate"] });
  records.addOperator({ ...operator, sid: "s3", roles: [] });
  await store.committed();
  assert.deepEqual(
    records.operators().map(({ sid }) => sid),
    ["s1", "s3"],
  );
  assert.deepEqual([records.sidOfRole("gate"), records.sidOfRole("builder")], ["s1", undefined]);
  records.removeOperator("s1");
  records.addOperator({ ...operator, sid: "s2", roles: ["builder", "gate"] });
  await store.committed();
  assert.deepEqual([records.sidOfRole("gate"), records.sidOfRole("senior")], ["s2", undefined]);
});

test("an operator that was removed is not brought back by being seen, and one that was seen is not idle", async (t) => {
  const store = openStoreIn(tempFolder(t));
  t.after(() => store.close());
  const { records } = store;
  records.addOperator(operator);
  records.touchOperator(operator.sid, 10);
  records.removeIdleOperator(operator.sid, operator.seen_at);
  await store.committed();
  assert.equal(records.operator(operator.sid)?.seen_at, 10);
  assert.equal(records.sidOfRole("gate"), operator.sid);
  records.removeIdleOperator(operator.sid, 10);
  records.touchOperator(operator.sid, 20);
  await store.committed();
  assert.deepEqual([records.operator(operator.sid), records.sidOfRole("gate")], [undefined, undefined]);
});

test("a request stays with the operator session it was sent to while that exists and has not given it back", async (t) => {
  const store = openStoreIn(tempFolder(t));
  t.after(() => store.close());
  const { records } = store;
  const sentTo = async (): Promise<string | undefined> => {
    await store.committed();
    return records.sent(1)?.sid;
  };
  for (const sid of ["s1", "s2"]) records.addOperator({ ...operator, sid, roles: [] });
  records.putSent({ wait: 1, sid: "s1", at: 1 });
  records.putSent({ wait: 1, sid: "s2", at: 2 });
  assert.equal(await sentTo(), "s1");
  records.removeSent(1, "s2");
  assert.equal(await sentTo(), "s1");
  records.removeSent(1, "s1");
  records.putSent({ wait: 1, sid: "s2", at: 3 });
  assert.equal(await sentTo(), "s2");
  records.removeOperator("s2");
  records.putSent({ wait: 1, sid: "s1", at: 4 });
  assert.equal(await sentTo(), "s1");
});

test("a lease is taken once: an offer cannot be renewed or made void after its worker has fetched the prompt", async (t) => {
  const store = openStoreIn(tempFolder(t));
  t.after(() => store.close());
  const { records } = store;
  const rights = { task: 5, attempt: 1, expires_at: 100 };
  const read = async () => {
    await store.committed();
    const { due, fetched_at, posted_at, void_until } = records.lease(5, 1) ?? assert.fail();
    return { due, fetched_at, posted_at, void_until };
  };
  records.offerLease(rights, { apiKey: "k1", at: 0 });
  records.recordFetch(rights, { at: 10, due: 12 });
  records.offerLease({ ...rights, expires_at: 200 }, { apiKey: "k1", at: 0 });
  records.voidOffer(5, 1);
  assert.deepEqual(await read(), { due: 100, fetched_at: 10, posted_at: null, void_until: 0 });
  records.extendLease(rights, { beforeProgress: 20, afterProgress: 20 });
  assert.equal((await read()).due, 100, "a sign of life never shortens it");
  records.recordProgress(rights, { at: 18, due: 20 });
  assert.deepEqual(await read(), { due: 20, fetched_at: 10, posted_at: 18, void_until: 0 });
  records.extendLease(rights, { beforeProgress: 25, afterProgress: 25 });
  records.recordFetch(rights, { at: 22, due: 24 });
  assert.deepEqual(await read(), { due: 25, fetched_at: 10, posted_at: 18, void_until: 0 });
});

test("rights that were made void change no lease, and later rights do", async (t) => {
  const store = openStoreIn(tempFolder(t));
  t.after(() => store.close());
  const { records } = store;
  const rights = { task: 5, attempt: 1, expires_at: 100 };
  records.offerLease(rights, { apiKey: "k1", at: 0 });
  records.voidOffer(5, 1);
  records.recordFetch(rights, { at: 10, due: 12 });
  records.recordProgress(rights, { at: 10, due: 12 });
  records.extendLease(rights, { beforeProgress: 900, afterProgress: 900 });
  await store.committed();
  assert.deepEqual(records.lease(5, 1), { ...rightsRow, due: 100, void_until: 100 });
  records.recordFetch({ ...rights, expires_at: 101 }, { at: 11, due: 13 });
  await store.committed();
  assert.deepEqual(records.lease(5, 1), { ...rightsRow, due: 101, fetched_at: 11, void_until: 100 });
});

const rightsRow = { task: 5, attempt: 1, fetched_at: null, posted_at: null, api_key: "k1", revoked_at: null };

test("a key's digest is there once: the same id again is an error, not another key", async (t) => {
  const store = openStoreIn(tempFolder(t));
  store.records.addKey(key);
  await store.committed();
  store.records.addKey({ ...key, name: "other" });
  await assert.rejects(store.committed());
  store.close();
});

test("rows of the service and of the tasks that one tick writes are one commit, kept whole or not at all", async (t) => {
  if (isOnPostgres()) return t.skip("it looks into the file of the embedded store");
  const w = world(tempFolder(t), {});
  t.after(() => w.stop());
  const store = w.store;
  let commits = 0;
  store.onCommit(() => (commits += 1));
  const opened = openStoreIn(tempFolder(t));
  t.after(() => opened.close());
  opened.onCommit(() => (commits += 1));
  opened.addMail(1, "{}");
  fill(opened.records);
  await opened.committed();
  assert.equal(commits, 1);
  store.putSetting("colour", "green");
  assert.deepEqual(
    seen(leftByKill(t, w), "SELECT 1 FROM meta WHERE key LIKE 'setting_%'"),
    [],
    "queued is not yet kept",
  );
  await store.committed();
  assert.equal(seen(leftByKill(t, w), "SELECT 1 FROM meta WHERE key LIKE 'setting_%'").length, 1);
});

test("pruning takes the leases and the sent requests of the trees it removes, and nobody else's", async (t) => {
  if (isOnPostgres()) return t.skip("it looks into the file of the embedded store");
  const folder = tempFolder(t);
  const store = openStoreIn(folder);
  const [old, current] = [store.addTask(row), store.addTask(row)];
  for (const task of [old, current]) {
    const run = store.addRun({ task, attempt: 1, run: 1, body: null });
    const wait = store.addWait({ task, root: task, run, key: "w", raised_at: 1, due: 2, ask: null, body: "{}" });
    store.addAnswer({ wait, kind: "withdrawn", at: 2, body: null });
    store.records.putSent({ wait, sid: "s1", at: 1 });
    store.records.offerLease({ task, attempt: 1, expires_at: 60 }, { apiKey: "k1", at: 0 });
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
