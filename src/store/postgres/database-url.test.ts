import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { TuttiError } from "../../protocol/error.ts";
import { databaseSecrets, readDatabaseUrl, wayWarning } from "./database-url.ts";

test("a database beyond loopback without TLS is warned about, and so is a certificate that nobody verifies", () => {
  const warned = (url: string): string => wayWarning(readDatabaseUrl(url)) ?? "";
  assert.match(warned("postgres://me:pw@db.example.com/tutti"), /without TLS/);
  assert.match(warned("postgres://me:pw@10.1.2.3:5433/tutti?sslmode=disable"), /without TLS/);
  assert.match(warned("postgres://me:pw@db.example.com/tutti?sslmode=no-verify"), /not verified/);
  for (const mode of ["prefer", "require", "verify-ca", "verify-full"])
    assert.equal(warned(`postgres://me:pw@db.example.com/tutti?sslmode=${mode}`), "", mode);
  assert.equal(warned("postgres://me:pw@127.0.0.1/tutti"), "");
  assert.equal(warned("postgres://me:pw@[::1]:5432/tutti"), "");
  assert.equal(warned("postgres://me@/tutti?host=/run/postgresql"), "");
  assert.match(warned("postgres://me:pw@localhost/tutti?host=db.example.com"), /db\.example\.com:5432 /);
});

test("what is shown of an address names neither its user nor its password", () => {
  const { shown } = readDatabaseUrl("postgres://someone:hunter%2F2@db.example.com:5433/tutti?sslmode=verify-full");
  assert.equal(shown, "tutti at db.example.com:5433");
});

test("an address that cannot be used is refused without being shown", () => {
  const bad = [
    "mysql://me:hunter2@db/x",
    "postgres://me:hunter2@db:99999999/x",
    "postgres://me:hunter2@ex ample:x/y",
    "hunter2",
    "postgres://me:hun#ter2@db/x",
    "postgres://me:hunter2@db/x?sslmode=hunter2",
    "postgres://me:hunter2@db/x?sslrootcert=/nowhere/ca.pem",
  ];
  for (const url of bad) {
    const thrown = caught(() => readDatabaseUrl(url));
    assert.ok(thrown instanceof TuttiError && thrown.code === "invalid_input", url);
    assert.doesNotMatch(inspect(thrown, { depth: 10 }), /hunter2|hun#ter2/);
  }
});

test("the whole address and its password are secrets, as written and decoded", () => {
  const url = "postgres://me:p%40ss%2Fword@db/x?password=other";
  assert.deepEqual(
    databaseSecrets(url).map(({ value }) => value),
    [url, "p%40ss%2Fword", "p@ss/word", "other"],
  );
  assert.deepEqual(
    databaseSecrets("postgres://me@/x?host=/tmp").map(({ name }) => name),
    ["database url"],
  );
});

test("settings that the URL asks for do not take the place of ours", () => {
  const { options, connectionString } = readDatabaseUrl("postgres://me@db/x?options=-c%20search_path%3Dother&a=b");
  assert.equal(options, "-c search_path=other");
  assert.equal(connectionString, "postgres://me@db/x?a=b");
});

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}
