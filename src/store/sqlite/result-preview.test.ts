import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { taskRow } from "../../../test/support/task-row.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { databaseFile } from "./database.ts";
import { migrations } from "./schema.ts";
import { openStore } from "./sqlite-store.ts";
import { openView } from "./sqlite-view.ts";

const long = "é".repeat(50_000);
const nested = JSON.parse(`${"[".repeat(2_000)}"deep${"x".repeat(5_000)}"${"]".repeat(2_000)}`);

const outcomes = [
  { content: long },
  { content: { list: [long] } },
  { error: { code: "internal", message: long } },
  { reason: long },
  { content: nested },
  { content: "short" },
];

test("a list has the size and the beginning of a long result, whatever it holds, and never its body", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  t.after(() => store.close());
  for (const outcome of outcomes) {
    const task = store.addTask(taskRow);
    store.addRun({ task, attempt: 1, run: 1, body: null });
    store.addResult({ task, status: "completed", at: 1, body: JSON.stringify(outcome) });
  }
  await store.committed();
  const view = openView(folder);
  t.after(() => view.close());
  const rows = (await view.tasks({ limit: 9 })).rows.toReversed();
  assert.deepEqual(
    rows.map(({ preview }) => preview),
    [
      long.slice(0, 400),
      `{"list":["${long}`.slice(0, 400),
      long.slice(0, 400),
      long.slice(0, 400),
      "[".repeat(400),
      null,
    ],
  );
  assert.deepEqual(
    rows.map(({ result }) => result),
    [null, null, null, null, null, '{"content":"short"}'],
  );
  assert.equal(rows[0]?.result_bytes, Buffer.byteLength(JSON.stringify(outcomes[0])));
  assert.deepEqual(JSON.parse((await view.result(1)) ?? ""), outcomes[0], "all of it is one read");
});

test("results of a state folder of the version before get their beginnings too", async (t) => {
  const folder = tempFolder(t);
  const database = new DatabaseSync(databaseFile(folder));
  const before = migrations.slice(
    0,
    migrations.findIndex((sql) => sql.includes("result_previews")),
  );
  database.exec(`${before.join(";")}; PRAGMA user_version = ${before.length}`);
  const add = database.prepare("INSERT INTO results VALUES (?, 'completed', 1, ?)");
  for (const [index, outcome] of outcomes.entries()) add.run(index + 1, JSON.stringify(outcome));
  database.close();
  const store = openStore(folder);
  store.close();
  const migrated = new DatabaseSync(databaseFile(folder));
  t.after(() => migrated.close());
  const texts = migrated.prepare("SELECT text FROM result_previews ORDER BY task").all();
  assert.deepEqual(
    texts.map(({ text }) => String(text).slice(0, 100)),
    [long, `{"list":["${long}`, long, long, `{"content":${"[".repeat(400)}`].map((text) => text.slice(0, 100)),
  );
});
