import assert from "node:assert/strict";
import { test } from "node:test";

import { taskRow as row } from "../../../test/support/task-row.ts";
import { seen, world } from "../../../test/support/engine-kit.ts";
import { leftByKill } from "../../../test/support/kill-process.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { ServiceRecords } from "../service-records.ts";
import { openStore } from "./sqlite-store.ts";
import { pruneTrees } from "./prune-trees.ts";

const key = { id: "k1", name: "laptop", role: "viewer", digest: "d1", created_at: 1, revoked_at: null } as const;
const operator = { sid: "s1", digest: "d2", roles: ["gate", "senior"], created_at: 2, seen_at: 3, api_key: "key_1" };
const sent = { wait: 7, sid: "s1", at: 4 };
const handle = { digest: "d3", claims: '{"task":"t"}', expires_at: 50 };
const ticket = { digest: "d5", sid: "s1", expires_at: 40, claim: null };
const lease = { task: 5, attempt: 2, due: 60, fetched_at: null, posted_at: null, void_until: 0 };
const notice = { id: "n1", target: "hook", body: "{}", tries: 0, due: 9, created_at: 8 };

function fill(records: ServiceRecords): void {
  records.addKey(key);
  records.putOperator(operator);
  records.putSent(sent);
  records.putHandle(handle);
  records.addTicket(ticket);
  records.putLease(lease);
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

test("what the records keeps comes back as it was, once it is committed and after the store is opened again", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  assert.deepEqual(all(store.records), [[], [], undefined, undefined, undefined, undefined, [], undefined]);
  fill(store.records);
  assert.equal(store.records.sent(sent.wait), undefined, "reads see what is committed");
  await store.committed();
  const whole = [[key], [operator], sent, handle, ticket, lease, [notice], "blue"];
  assert.deepEqual(all(store.records), whole);
  store.close();
  const again = openStore(folder);
  t.after(() => again.close());
  assert.deepEqual(all(again.records), whole);
});

test("a row of the same key is replaced, and what is removed is gone", async (t) => {
  const store = openStore(tempFolder(t));
  t.after(() => store.close());
  const { records } = store;
  fill(records);
  records.revokeKey(key.id, 70);
  records.revokeKey(key.id, 71);
  records.putOperator({ ...operator, seen_at: 30, api_key: "key_1" });
  records.putSent({ ...sent, sid: "s2" });
  records.putLease({ ...lease, posted_at: 66, void_until: 0 });
  records.putLease({ ...lease, attempt: 3 });
  records.putNotice({ ...notice, tries: 1 });
  records.putSetting("colour", "red");
  records.putHandle({ ...handle, digest: "d4", expires_at: 51 });
  records.dropHandles(51);
  await store.committed();
  assert.deepEqual(
    [records.keys()[0]?.revoked_at, records.operators(), records.sent(sent.wait)?.sid, records.setting("colour")],
    [70, [{ ...operator, seen_at: 30, api_key: "key_1" }], "s2", "red"],
    "a key that is revoked stays revoked as of the first time",
  );
  assert.deepEqual(
    [records.lease(5, 2)?.posted_at, records.lease(5, 3)?.posted_at, records.notices().map((each) => each.tries)],
    [66, null, [1]],
  );
  assert.deepEqual([records.handle("d3"), records.handle("d4")?.expires_at], [undefined, 51]);
  records.removeOperator(operator.sid);
  records.removeNotice(notice.id);
  await store.committed();
  assert.deepEqual([records.operators(), records.notices()], [[], []]);
});

test("a key's digest is there once: the same id again is an error, not another key", async (t) => {
  const store = openStore(tempFolder(t));
  store.records.addKey(key);
  await store.committed();
  store.records.addKey({ ...key, name: "other" });
  await assert.rejects(store.committed());
  store.close();
});

test("the records's rows and the store's of one tick are one commit, all there after a kill or none", async (t) => {
  const w = world(tempFolder(t), {});
  t.after(() => w.stop());
  const store = w.store;
  let commits = 0;
  store.onCommit(() => (commits += 1));
  const opened = openStore(tempFolder(t));
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
  const folder = tempFolder(t);
  const store = openStore(folder);
  const [old, current] = [store.addTask(row), store.addTask(row)];
  for (const task of [old, current]) {
    const run = store.addRun({ task, attempt: 1, run: 1, body: null });
    const wait = store.addWait({ task, root: task, run, key: "w", raised_at: 1, due: 2, ask: null, body: "{}" });
    store.addAnswer({ wait, kind: "withdrawn", at: 2, body: null });
    store.records.putSent({ wait, sid: "s1", at: 1 });
    store.records.putLease({ ...lease, task });
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
