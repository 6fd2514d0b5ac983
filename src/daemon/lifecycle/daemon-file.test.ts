import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { type DaemonFile, readDaemonFile, removeDaemonFile, writeDaemonFile } from "./daemon-file.ts";

const file = (instance: string): DaemonFile => ({
  pid: 12,
  process_start: "boot/34",
  url: "http://127.0.0.1:7878",
  instance,
  started_at: 56,
  version: "0.1.0",
});

test("the file is readable by its owner alone, and nothing is left beside it", (t) => {
  const folder = tempFolder(t);
  writeDaemonFile(folder, file("one"));
  assert.deepEqual(readDaemonFile(folder), file("one"));
  assert.equal(statSync(join(folder, "daemon.json")).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ["daemon.json"]);
});

test("a file that was left behind is overwritten, and only the instance in it removes it", (t) => {
  const folder = tempFolder(t);
  writeDaemonFile(folder, file("one"));
  writeDaemonFile(folder, file("two"));
  removeDaemonFile(folder, "one");
  assert.equal(readDaemonFile(folder)?.instance, "two");
  removeDaemonFile(folder, "two");
  assert.equal(readDaemonFile(folder), undefined);
  removeDaemonFile(folder, "two");
});

test("a file that cannot be understood counts as missing, and unknown fields are ignored", (t) => {
  const folder = tempFolder(t);
  const write = (text: string): void => writeFileSync(join(folder, "daemon.json"), text, { mode: 0o600 });
  for (const text of ["", "{", "null", "[]", "{}", JSON.stringify({ ...file("x"), url: "file:///etc/passwd" })]) {
    write(text);
    assert.equal(readDaemonFile(folder), undefined, text);
  }
  write(JSON.stringify({ ...file("x"), more: 1 }));
  assert.deepEqual(readDaemonFile(folder), file("x"));
});

test("a file that cannot be written throws and leaves nothing behind", (t) => {
  const folder = tempFolder(t);
  assert.throws(() => writeDaemonFile(join(folder, "nowhere"), file("x")), /ENOENT/);
  assert.deepEqual(readdirSync(folder), []);
});
