import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { createPrivateFile, replacePrivateFile } from "./private-file.ts";

function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "tutti-private-file-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a private file is readable by its owner alone, whatever the umask, and leaves no draft behind", (t) => {
  const folder = tempFolder(t);
  const before = process.umask(0o277);
  try {
    replacePrivateFile(join(folder, "a"), "one");
    assert.equal(createPrivateFile(join(folder, "b"), "two"), true);
  } finally {
    process.umask(before);
  }
  for (const name of ["a", "b"]) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder).toSorted(), ["a", "b"]);
});

test("replacing a file that others could read makes it private", (t) => {
  const path = join(tempFolder(t), "a");
  writeFileSync(path, "old", { mode: 0o644 });
  replacePrivateFile(path, "new");
  assert.deepEqual([readFileSync(path, "utf8"), statSync(path).mode & 0o777], ["new", 0o600]);
});

test("creating a file that exists changes nothing and returns false", (t) => {
  const folder = tempFolder(t);
  const path = join(folder, "a");
  assert.equal(createPrivateFile(path, "first"), true);
  assert.equal(createPrivateFile(path, "second"), false);
  assert.equal(readFileSync(path, "utf8"), "first");
  assert.deepEqual(readdirSync(folder), ["a"]);
});

test("a file that cannot be written throws and leaves nothing behind", (t) => {
  const folder = tempFolder(t);
  assert.throws(() => replacePrivateFile(join(folder, "nowhere", "a"), "x"), /ENOENT/);
  assert.throws(() => createPrivateFile(join(folder, "nowhere", "a"), "x"), /ENOENT/);
  assert.deepEqual(readdirSync(folder), []);
});
