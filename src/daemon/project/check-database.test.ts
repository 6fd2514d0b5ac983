import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { databaseFile } from "../../store/sqlite/database.ts";
import { openStore } from "../../store/sqlite/sqlite-store.ts";
import { checkDatabase } from "./check-database.ts";

function changed(folder: string, sql: string): void {
  const database = new DatabaseSync(databaseFile(folder));
  database.exec(sql);
  database.close();
}

test("there is no finding without a database, and an intact one is ok, also while it is in use", (t) => {
  const folder = tempFolder(t);
  assert.deepEqual(checkDatabase(folder), []);
  const store = openStore(folder);
  assert.equal(checkDatabase(folder)[0]?.state, "ok");
  store.close();
  assert.equal(checkDatabase(folder)[0]?.state, "ok");
});

test("a database that is damaged, newer or not ours fails with advice, and is not changed", (t) => {
  const cases: [string, (folder: string) => void, object][] = [
    [
      "damaged in a page that opening does not read",
      (folder) => {
        openStore(folder).close();
        changed(
          folder,
          `INSERT INTO mail (task, body) SELECT 1, hex(zeroblob(1000)) FROM (WITH RECURSIVE n (i) AS
             (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n); PRAGMA wal_checkpoint(TRUNCATE)`,
        );
        const bytes = readFileSync(databaseFile(folder));
        bytes.fill(0xa5, bytes.length - 40_960);
        writeFileSync(databaseFile(folder), bytes);
      },
      { code: "corrupt", todo: "restore it from a copy, or move it away to start anew" },
    ],
    [
      "newer",
      (folder) => {
        openStore(folder).close();
        changed(folder, "PRAGMA user_version = 99");
      },
      { code: "newer", todo: "update this one, or choose another folder with --state" },
    ],
    [
      "of another program",
      (folder) => changed(folder, "CREATE TABLE songs (name TEXT); PRAGMA user_version = 1"),
      { code: "corrupt", todo: "move it away, or choose another folder with --state or $TUTTI_STATE" },
    ],
    [
      "of another program that counts no versions",
      (folder) => changed(folder, "CREATE TABLE songs (name TEXT)"),
      { code: "corrupt", todo: "move it away, or choose another folder with --state or $TUTTI_STATE" },
    ],
    ["no database", (folder) => writeFileSync(databaseFile(folder), "a diary ".repeat(1_000)), { code: "corrupt" }],
  ];
  for (const [name, make, wanted] of cases) {
    const folder = tempFolder(t);
    make(folder);
    const before = readFileSync(databaseFile(folder));
    const findings = checkDatabase(folder);
    assert.partialDeepStrictEqual(findings, [{ what: "database", state: "fail", ...wanted }], name);
    assert.match(findings[0]?.todo ?? "", /move it away|update this one/, name);
    assert.deepEqual(readFileSync(databaseFile(folder)), before, name);
  }
});
