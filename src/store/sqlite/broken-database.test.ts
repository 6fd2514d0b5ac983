import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { fillUp } from "../../../test/crash/disk-filling-loop.ts";
import { started, world } from "../../../test/support/engine-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { systemClock } from "../../engine/clock.ts";
import { Engine } from "../../engine/engine.ts";
import { openDatabase, openForReading, databaseFile, makeFolder } from "./database.ts";
import { takeLock } from "./lock.ts";
import { openStore } from "./sqlite-store.ts";

const filler = join(import.meta.dirname, "../../../test/crash/disk-filling-process.ts");

function run(command: string, args: readonly string[], options: { readonly uid?: number } = {}) {
  const child: ChildProcess = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], ...options });
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const lines = (): unknown[][] =>
    output
      .split("\n")
      .filter((line) => line.endsWith("]"))
      .map((line): unknown[] => JSON.parse(line));
  return { child, lines, ended: once(child, "close") };
}

test("a full disk stops the work with a clear error; nothing acknowledged is lost, and it goes on when there is room", async (t) => {
  const folder = tempFolder(t);
  // No file may grow past 500 kB: to SQLite that is a disk that is full.
  const child = run("bash", ["-c", 'ulimit -f 500; exec "$0" "$@"', process.execPath, filler, folder, "fill"]);
  await child.ended;
  const said = child.lines();
  const [failed, code, message] = said.at(-1) ?? [];
  assert.deepEqual([failed, code], ["failed", "disk_full"], JSON.stringify(said.at(-1)));
  assert.match(String(message), /tutti\.db.*free space and start again/);
  const durable = said.filter(([word]) => word === "durable").map(([, turn]) => Number(turn));
  assert.ok(durable.length > 3 && durable.length < 60, `${durable.length} turns fitted`);

  const ran: number[] = [];
  const store = openStore(folder);
  t.after(() => store.close());
  const engine = new Engine({ store, clock: systemClock, runners: { loop: fillUp((turn) => ran.push(turn)) } });
  assert.equal(await engine.recover(), 1);
  const name = String(said.find(([word]) => word === "started")?.[1]);
  const result = await engine.result(name).catch((thrown: unknown) => thrown);
  await engine.stop();
  const outcome = JSON.stringify(result);
  // The turn that was under way may be of unknown outcome; every earlier one must be there and not run again.
  if (outcome.includes("outcome_unknown")) assert.deepEqual(ran, []);
  else
    assert.deepEqual(
      ran,
      Array.from({ length: 60 - durable.length }, (_, index) => durable.length + index),
    );
  assert.equal(store.failure, undefined);
  for (const turn of durable) assert.ok(store.logAt(1, `turn${turn}`) !== undefined, `turn ${turn} is lost`);
});

test("a store that cannot write ends what waits, refuses everything after, and leaves what was committed", async (t) => {
  const w = world(tempFolder(t), { one: (d) => d.sleep("nap", 1_000) });
  const name = await started(w, "one");
  const waiting = w.engine.result(name);
  const reader = new DatabaseSync(databaseFile(w.folder));
  t.after(() => reader.close());
  reader.exec("DROP TABLE mail");
  const message = w.engine.message(name, { name: null, role: "user", parts: [] });
  await assert.rejects(message, { code: "io" });
  await assert.rejects(waiting, { code: "io" });
  await assert.rejects(w.engine.idle(), { code: "io" });
  await assert.rejects(w.engine.cancel(name, ""), { code: "io" });
  await w.engine.stop();
  w.store.close();
  assert.equal(reader.prepare("SELECT COUNT(*) AS n FROM results").get()?.["n"], 0);
});

test("a batch is committed whole or not at all", async (t) => {
  const store = openStore(tempFolder(t));
  t.after(() => store.close());
  const run = { task: 1, attempt: 1, run: 1, body: null };
  store.addRun({ ...run, task: 7 });
  store.addRun(run);
  store.addRun(run);
  await assert.rejects(store.committed(), { code: "io" });
  assert.equal(store.lastRun(7), undefined);
  assert.throws(() => store.addRun(run), { code: "io" });
});

test("a file that is no database, and one with a damaged page, are told and left as they are", async (t) => {
  const folder = tempFolder(t);
  writeFileSync(databaseFile(folder), "this is a letter, not a database. ".repeat(100));
  const before = readFileSync(databaseFile(folder));
  assert.throws(() => openStore(folder), { code: "corrupt", message: /tutti\.db.*(move it away|restore)/ });
  assert.throws(() => openForReading(folder), { code: "corrupt" });
  assert.deepEqual(readFileSync(databaseFile(folder)), before);

  const w = world(tempFolder(t), { one: (d) => d.sleep("nap", 1_000) });
  for (let count = 0; count < 40; count += 1) await started(w, "one", { input: "x".repeat(1_000) });
  await w.stop();
  const path = databaseFile(w.folder);
  const bytes = readFileSync(path);
  for (let at = 8_192; at < bytes.length; at += 4_096) bytes.fill(0xa5, at, at + 2_000);
  writeFileSync(path, bytes);
  const damaged = (): Promise<unknown> => {
    const store = openStore(w.folder);
    t.after(() => store.close());
    return new Engine({ store, clock: systemClock, runners: {} }).recover();
  };
  await assert.rejects(async () => damaged(), { code: "corrupt" });
});

test("a database of something else is refused, and nothing is put into it", (t) => {
  const folder = tempFolder(t);
  const foreign = new DatabaseSync(databaseFile(folder));
  foreign.exec("CREATE TABLE theirs (x)");
  foreign.close();
  assert.throws(() => openDatabase(folder), { code: "corrupt", message: /a database of something else/ });
  const after = new DatabaseSync(databaseFile(folder), { readOnly: true });
  assert.deepEqual(
    after
      .prepare("SELECT name FROM sqlite_master")
      .all()
      .map((row) => row["name"]),
    ["theirs"],
  );
  after.close();
});

test("a database of a newer version is refused by writers and readers, and not touched", (t) => {
  const folder = tempFolder(t);
  openStore(folder).close();
  const database = new DatabaseSync(databaseFile(folder));
  database.exec("PRAGMA user_version = 99");
  database.close();
  for (const open of [openDatabase, openForReading]) {
    assert.throws(() => open(folder), { code: "newer", message: /newer Tutti; update this one/ });
  }
  assert.equal(
    new DatabaseSync(databaseFile(folder), { readOnly: true }).prepare("PRAGMA user_version").get()?.["user_version"],
    99,
  );
});

test("a folder that cannot be made, entered or written is told with its path", async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, "file"), "");
  assert.throws(() => makeFolder(join(folder, "file", "state")), {
    code: "read_only",
    message: /could not make the state folder .*--state/,
  });
  assert.throws(() => takeLock(join(folder, "missing")), { code: "read_only", message: /cannot be opened/ });
  mkdirSync(join(folder, "tutti.db"));
  assert.throws(() => openStore(folder), { code: "read_only", message: /tutti\.db cannot be opened/ });
  assert.throws(() => openForReading(join(folder, "missing")), { code: "not_found", message: /there is no state in/ });
});

test("a folder that may only be read is told, to a process that is not the superuser", async (t) => {
  const folder = tempFolder(t);
  openStore(folder).close();
  chmodSync(folder, 0o555);
  const nobody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
  const child = run(process.execPath, [filler, folder, "fill"], nobody);
  await child.ended;
  chmodSync(folder, 0o755);
  const [failed, code, message] = child.lines().at(-1) ?? [];
  assert.deepEqual([failed, code], ["failed", "read_only"], JSON.stringify(child.lines()));
  assert.ok(String(message).includes(folder));
});

test("a second process on the same folder is told who holds it; a dead owner holds nothing", async (t) => {
  const folder = tempFolder(t);
  const owner = run(process.execPath, [filler, folder, "hold"]);
  t.after(() => owner.child.kill("SIGKILL"));
  while (owner.lines().length === 0) await once(owner.child.stdout ?? owner.child, "data");
  assert.throws(() => takeLock(folder), {
    code: "locked",
    retry: "safe",
    message: new RegExp(`in use by process ${owner.child.pid}, since 20`),
  });
  const second = run(process.execPath, [filler, folder, "fill"]);
  await second.ended;
  assert.deepEqual(
    second.lines().map((line) => line.slice(0, 2)),
    [["failed", "locked"]],
  );
  openForReading(folder).close();
  owner.child.kill("SIGKILL");
  await owner.ended;
  const lock = takeLock(folder);
  lock.release();
  takeLock(folder).release();
});

test("the state folder is for its owner alone", (t) => {
  const folder = join(tempFolder(t), "a", "b");
  makeFolder(folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});
