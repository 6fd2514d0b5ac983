import assert from "node:assert/strict";
import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { ask, connectTo } from "../../store/postgres/database-connection.ts";
import { type DatabaseFacts, inspectDatabase } from "../../store/postgres/inspect-database.ts";
import { joinDatabase } from "../../store/postgres/postgres-store.ts";
import { checkSharedDatabase, databaseFindings } from "./check-shared-database.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const sound: DatabaseFacts = {
  version: 150_004,
  versionText: "15.4",
  isCopy: false,
  hasSchema: true,
  canMake: true,
  canMakeTemporary: true,
  schema: { version: 1, oldest: 1 },
  settings: {
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    synchronous_standby_names: "",
    default_transaction_isolation: "read committed",
  },
  copies: 0,
  connections: { used: 10, most: 97 },
  clock: { aheadMs: 3, withinMs: 2 },
  way: { isLocal: true, isEncrypted: false },
  roundTripMs: 0.2,
  commitMs: 1,
  nodes: [],
  treesWithoutNode: 0,
};
const node = {
  incarnation: 1,
  name: "a",
  url: "",
  version: "1.0.0",
  labels: [],
  alive: true,
  joinedAt: 0,
  trees: 0,
  leaseLeftMs: 1,
  changesBehind: 0,
  eventsUnplaced: 0,
};

test("a database that is as it should be gets one finding, and each thing that is wrong one more, with what to do", () => {
  assert.deepEqual(
    databaseFindings(sound, 15_000).map(({ state }) => state),
    ["ok"],
  );
  const wrong: [Partial<DatabaseFacts>, "warn" | "fail", RegExp][] = [
    [{ version: 130_001, versionText: "13.1" }, "fail", /13\.1 is too old/],
    [{ isCopy: true }, "fail", /takes no writes/],
    [{ canMake: false }, "fail", /may not make tables/],
    [{ canMakeTemporary: false }, "warn", /temporary/],
    [{ schema: { version: 9, oldest: 8 } }, "fail", /newer Tutti, and this one cannot/],
    [{ schema: { version: 2, oldest: 1 } }, "warn", /can still work/],
    [{ schema: { version: 0, oldest: 1 } }, "warn", /older Tutti/],
    [{ settings: { ...sound.settings, fsync: "off" } }, "fail", /fsync is off/],
    [{ settings: { ...sound.settings, synchronous_commit: "off" } }, "fail", /synchronous_commit is off/],
    [{ settings: { ...sound.settings, default_transaction_isolation: "serializable" } }, "fail", /serializable/],
    [{ copies: 1 }, "warn", /failover/],
    [{ connections: { used: 95, most: 97 } }, "warn", /2 of 97 connections/],
    [{ clock: { aheadMs: -4_000, withinMs: 5 } }, "warn", /4\.0 s behind/],
    [{ way: { isLocal: false, isEncrypted: false } }, "fail", /without TLS/],
    [{ commitMs: 80 }, "warn", /80 ms/],
    [{ nodes: [{ ...node, alive: false }] }, "warn", /lost: a/],
    [{ treesWithoutNode: 2 }, "warn", /2 unfinished trees/],
    [{ nodes: [node, { ...node, name: "b", version: "2.0.0" }] }, "warn", /1\.0\.0, 2\.0\.0/],
  ];
  for (const [part, state, said] of wrong) {
    const [, found, more] = databaseFindings({ ...sound, ...part }, 15_000);
    assert.equal(found?.state, state, String(said));
    assert.match(found.said, said);
    assert.ok((found.todo ?? "") !== "");
    assert.equal(more, undefined, String(said));
  }
  assert.match(databaseFindings(sound, 1_000)[1]?.said ?? "", /lease of this node is 1 s/);
});

test("the facts come from the database itself", { skip }, async (t) => {
  const address = newDatabase();
  const before = await inspectDatabase(address);
  assert.deepEqual([before.hasSchema, before.canMake, before.schema, before.isCopy], [false, true, undefined, false]);
  // The server of the tests does not wait for its disk.
  assert.equal(before.settings["fsync"], "off");
  assert.ok(before.version >= 140_000 && before.way.isLocal && !before.way.isEncrypted);
  assert.ok(before.commitMs !== undefined && before.commitMs >= 0);
  assert.ok(Math.abs(before.clock.aheadMs) <= before.clock.withinMs + 1);
  await joinDatabase(address, { name: "n", url: "", labels: [], version: "v", leaseMs: 60_000 });
  const joined = await inspectDatabase(address);
  assert.deepEqual(joined.schema, { version: 1, oldest: 1 });
  assert.deepEqual(
    joined.nodes.map(({ name, alive }) => [name, alive]),
    [["n", true]],
  );

  const admin = await connectTo(address);
  t.after(() => admin.end());
  await ask(admin, "CREATE ROLE guest LOGIN");
  const guest = { ...address, url: address.url.replace("tutti@", "guest@") };
  assert.equal((await inspectDatabase({ ...guest, schema: "none_such" })).canMake, false);
  const findings = await checkSharedDatabase(tempFolder(t), { ...guest, schema: "none_such" });
  assert.ok(findings.some(({ state, said }) => state === "fail" && /may not make tables/.test(said)));
});

test(
  "a database that cannot be reached is told without its address, and no database is no finding",
  { skip },
  async (t) => {
    const folder = tempFolder(t);
    assert.deepEqual(await checkSharedDatabase(folder, undefined), []);
    const [found, ...more] = await checkSharedDatabase(folder, {
      url: "postgres://u:secret@127.0.0.1:1/none",
      schema: "tutti",
    });
    assert.deepEqual([found?.state, found?.code, more.length], ["fail", "unreachable", 0]);
    assert.doesNotMatch(JSON.stringify(found), /secret/);
  },
);
