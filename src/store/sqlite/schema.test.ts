import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { codeOf } from "../../../test/support/engine-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { databaseFile, openForReading } from "./database.ts";
import { migrations } from "./schema.ts";
import { openStore } from "./sqlite-store.ts";
import { openView } from "./sqlite-view.ts";

/** A database as the first version left it: a finished task, one that asks, one that was asked before. */
function firstVersion(folder: string): void {
  const database = new DatabaseSync(databaseFile(folder));
  database.exec(`${migrations[0]}; PRAGMA user_version = 1;
    INSERT INTO meta VALUES ('salt', 'abcdef0123');
    INSERT INTO tasks VALUES (1, NULL, 1, 0, 'loop', 'a', 0, 1, NULL, NULL, '{}'),
      (2, NULL, 2, 0, 'loop', 'b', 0, 1, NULL, NULL, '{}'), (3, 2, 2, 1, 'loop', 'c', 0, 1, NULL, NULL, '{}');
    INSERT INTO results VALUES (1, 'failed', 5, '{"error":{}}');
    INSERT INTO runs VALUES (1, 1, 1, 1, NULL), (2, 2, 1, 1, NULL), (3, 3, 1, 1, NULL);
    INSERT INTO log VALUES (1, 2, '!1', 1, 8, 'task.started', 0, 0, 0, NULL, NULL),
      (2, 3, '!2', 1, 8, 'task.started', 0, 0, 0, NULL, NULL);
    INSERT INTO waits VALUES (1, 2, 2, 2, 'old', 1, 9, '{"ask":{}}'), (2, 3, 2, 3, 'now', 1, 9, '{"ask":{}}');
    INSERT INTO answers VALUES (1, 'withdrawn', 2, NULL);`);
  database.close();
}

test("a database of the first version is brought up to date, and what was open in it is found", async (t) => {
  const folder = tempFolder(t);
  firstVersion(folder);
  assert.equal(await codeOf(Promise.resolve().then(() => openForReading(folder))), "conflict", "looking never writes");
  const store = openStore(folder);
  t.after(() => store.close());
  assert.deepEqual(
    [store.salt, store.openTasks(2).map((task) => task.id), store.unfinishedTrees()],
    ["abcdef0123", [2, 3], [2]],
  );
  const view = openView(folder);
  t.after(() => view.close());
  assert.deepEqual(
    (await view.tasks({ limit: 9 })).rows.map((task) => [task.id, task.status]),
    [
      [3, "input_required"],
      [2, "running"],
      [1, "failed"],
    ],
  );
  assert.deepEqual(
    (await view.openWaits({ asks: true, after: 0, limit: 9 })).rows.map((wait) => wait.id),
    [2],
  );
  store.dropAnswer(1);
  store.addAnswer({ wait: 2, kind: "expired", at: 3, body: null });
  store.records.putSetting("colour", "blue");
  await store.committed();
  assert.deepEqual(
    (await view.openWaits({ asks: true, after: 0, limit: 9 })).rows.map((wait) => wait.id),
    [1],
  );
});

test("the roles of operators that joined with an older version still have their holders", (t) => {
  const folder = tempFolder(t);
  const database = new DatabaseSync(databaseFile(folder));
  database.exec(`${migrations.slice(0, 2).join(";")}; PRAGMA user_version = 2;
    INSERT INTO operators VALUES ('op-1', 'd1', '["gate","senior"]', 1, 1, 'k'), ('op-2', 'd2', '[]', 1, 1, 'k');`);
  database.close();
  const store = openStore(folder);
  t.after(() => store.close());
  const holders = ["gate", "senior", "builder"].map((role) => store.records.sidOfRole(role));
  assert.deepEqual(holders, ["op-1", "op-1", undefined]);
});
