import assert from "node:assert/strict";
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { daemonLogFile, startupError, openDaemonLog } from "./daemon-log.ts";

test("the log is readable by its owner alone, and earlier output in it is not taken for an error", (t) => {
  const folder = tempFolder(t);
  writeFileSync(daemonLogFile(folder), "output of an earlier one\n", { mode: 0o600 });
  const log = openDaemonLog(folder);
  t.after(() => log.close());
  assert.equal(statSync(log.path).mode & 0o777, 0o600);
  assert.match(startupError(log).message, /it printed nothing/);
  appendFileSync(log.descriptor, "first\nlast\n\n");
  assert.match(startupError(log).message, /its last output was: last \(/);
  assert.match(readFileSync(log.path, "utf8"), /^output of an earlier one\n/);
});

test("an error that the command printed is found, even if more was printed after it", (t) => {
  const folder = tempFolder(t);
  const log = openDaemonLog(folder);
  t.after(() => log.close());
  const error = { code: "corrupt", message: "tutti.db is damaged; restore it", retry: "never" };
  appendFileSync(log.descriptor, `${JSON.stringify({ level: "info", msg: "x" })}\n${JSON.stringify({ error })}\nbye\n`);
  const { code, message, retry } = startupError(log);
  assert.deepEqual({ code, message, retry }, error);
});

test("an error with an unknown code is reported as internal, and one that is cut off as plain text", (t) => {
  const folder = tempFolder(t);
  const log = openDaemonLog(folder);
  t.after(() => log.close());
  appendFileSync(log.descriptor, `${JSON.stringify({ error: { code: "brand_new", message: "m", retry: "safe" } })}\n`);
  assert.deepEqual(
    [startupError(log).code, startupError(log).message, startupError(log).retry],
    ["internal", "m", "safe"],
  );
  truncateSync(log.path);
  appendFileSync(log.descriptor, '{"error":{"code":"corr');
  assert.match(startupError({ path: log.path, from: 0 }).message, /last output was: \{"error"/);
});

test("of a program that crashed, the error message is reported and not the lines below it", (t) => {
  const folder = tempFolder(t);
  const log = openDaemonLog(folder);
  t.after(() => log.close());
  appendFileSync(log.descriptor, "Error: no such thing\n    at a (b.js:1:2) {\n  code: 'X'\n}\n\nNode.js v24.0.0\n");
  assert.match(startupError(log).message, /its last output was: Error: no such thing \(/);
});

test("the error is found in a log that was emptied after it was opened", (t) => {
  const folder = tempFolder(t);
  writeFileSync(daemonLogFile(folder), "output of an earlier one, and many of them\n");
  const log = openDaemonLog(folder);
  t.after(() => log.close());
  truncateSync(log.path);
  appendFileSync(log.descriptor, "no room\n");
  assert.match(startupError(log).message, /its last output was: no room \(/);
});

test("a log that has grown large is kept as .1 when a daemon starts", (t) => {
  const folder = tempFolder(t);
  const path = daemonLogFile(folder);
  writeFileSync(path, "old\n");
  truncateSync(path, 11 * 2 ** 20);
  const log = openDaemonLog(folder);
  t.after(() => log.close());
  assert.equal(log.from, 0);
  assert.equal(statSync(`${path}.1`).size, 11 * 2 ** 20);
});
