import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { TaskStatus } from "../../protocol/task/task-status.ts";
import { isStarting } from "./startup-marker.ts";
import { readDaemonFile, writeDaemonFile } from "./daemon-file.ts";
import { clientOf, findDaemon, probeDaemon } from "./find-daemon.ts";
import { isRunning, waitForExit } from "./process-identity.ts";
import { startDaemon } from "./start-daemon.ts";
import { stopDaemon } from "./stop-daemon.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { slowInvocation, type UpProcess, upScene, watched } from "../../../test/support/up-process.ts";

const openssl = "openssl";
const bin = join(import.meta.dirname, "..", "..", "..", "bin", "tutti.js");

async function invokeSlow(up: UpProcess, folder: string, delayMs: number): Promise<string> {
  const client = clientOf(up.found);
  const { task } = await client.invoke(readFileSync(slowInvocation(folder, delayMs), "utf8"), { folder });
  const leaf = async (): Promise<{ status: TaskStatus } | undefined> => (await client.tree(task))[1];
  for (let tries = 0; (await leaf())?.status !== "running"; tries += 1) {
    assert.ok(tries < 200, "it runs");
    await sleep(20);
  }
  await client.close();
  return task;
}

test("daemon.json exists while the daemon listens, and is removed when it stops", async (t) => {
  const { state, up } = upScene(t);
  const { child, found, ended } = await up();
  const file = readDaemonFile(state);
  assert.equal(file?.pid, child.pid);
  assert.equal(file?.instance, found.instance);
  for (const name of ["daemon.json", "admin.key"]) assert.equal(statSync(join(state, name)).mode & 0o777, 0o600, name);
  assert.equal((await fetch(`${found.daemon.url}/readyz`)).status, 200);
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
  assert.equal(existsSync(join(state, "daemon.json")), false);
  takeLock(state).release();
});

test("a daemon whose state folder was removed says so and ends", async (t) => {
  const { state, up } = upScene(t);
  const { ended, said } = await up();
  rmSync(state, { recursive: true });
  assert.equal(await ended, 6, said());
  assert.match(said(), /the state folder .* was removed while it was in use/);
  assert.equal(existsSync(state), false);
});

test("a stop lets the step under way finish, is not ready meanwhile, and nothing is left to do again", async (t) => {
  const { folder, state, up } = upScene(t);
  const first = await up();
  const task = await invokeSlow(first, folder, 1_500);
  first.child.kill("SIGTERM");
  for (let tries = 0; (await fetch(`${first.found.daemon.url}/readyz`)).status !== 503; tries += 1) {
    assert.ok(tries < 50, "it says that it is not ready");
    await sleep(10);
  }
  assert.equal(await first.ended, 0);
  const second = await up();
  const client = clientOf(second.found);
  assert.equal((await client.result(task, AbortSignal.timeout(240_000))).status, "completed");
  const leaf = (await client.tree(task))[1];
  assert.ok(leaf);
  const { steps } = await client.steps(leaf.id, {});
  assert.deepEqual(
    steps.map(({ outcome }) => outcome).filter((outcome) => outcome !== "ok"),
    [],
  );
  assert.equal(leaf.attempt, 1);
  assert.equal(await stopDaemon(state, { graceMs: 100 }), true);
  await client.close();
});

test("what does not finish in the grace time goes on at the next start (invariant 3)", async (t) => {
  const { folder, state, up } = upScene(t);
  const first = await up();
  const task = await invokeSlow(first, folder, 2_000);
  const begun = Date.now();
  assert.equal(await stopDaemon(state, { graceMs: 100 }), true);
  assert.ok(Date.now() - begun < 10_000);
  assert.equal(await first.ended, 0);
  const second = await up();
  const client = clientOf(second.found);
  assert.ok((await client.status()).resumed >= 1);
  assert.equal((await client.result(task, AbortSignal.timeout(240_000))).status, "completed");
  await client.close();
});

test("a second signal stops at once", async (t) => {
  const { folder, up } = upScene(t);
  const { child, found, ended } = await up();
  await invokeSlow({ child, found, ended, said: () => "" }, folder, 20_000);
  child.kill("SIGTERM");
  for (let tries = 0; (await fetch(`${found.daemon.url}/readyz`)).status !== 503; tries += 1) {
    assert.ok(tries < 50);
    await sleep(10);
  }
  const begun = Date.now();
  child.kill("SIGTERM");
  assert.equal(await ended, 143);
  assert.ok(Date.now() - begun < 3_000);
});

test("commands that start a daemon at the same time end up with one, and all use it", async (t) => {
  const { folder, state } = upScene(t);
  const options = { state, from: folder, port: 0 };
  const started = await Promise.all([startDaemon(options), startDaemon(options), startDaemon(options)]);
  assert.equal(new Set(started.map(({ daemon }) => daemon.pid)).size, 1);
  assert.equal(started.filter(({ existed }) => !existed).length, 1);
  assert.deepEqual(await findDaemon(state), started[0]?.daemon);
  assert.equal((await startDaemon(options)).existed, true);
  assert.equal(statSync(join(state, "daemon.log")).mode & 0o777, 0o600);
  assert.equal(await stopDaemon(state, { graceMs: 100 }), true);
  assert.equal(await stopDaemon(state, {}), false);
});

test("a daemon that another process is starting is waited for", async (t) => {
  const { folder, state, launch } = upScene(t);
  const child = launch(process.execPath, [bin, "up", "--state", state, "--port", "0", "--json"]);
  for (let tries = 0; !existsSync(join(state, "owner.json")); tries += 1) {
    assert.ok(tries < 500, "it has the state");
    await sleep(5);
  }
  const { daemon, existed } = await startDaemon({ state, from: folder, port: 0 });
  assert.deepEqual([daemon.pid, existed], [child.pid, true]);
  const markers = readdirSync(join(state, "start")).filter((name) => name.endsWith(".starting"));
  for (const pid of markers.map((name) => Number.parseInt(name, 10))) {
    assert.equal(await isStarting(state, pid), false, "the one that was started in vain has ended");
  }
});

test("a daemon that was killed is started again at the same port, in spite of the file it left", async (t) => {
  const { folder, state } = upScene(t);
  const options = { state, from: folder };
  const { daemon } = await startDaemon({ ...options, port: 0 });
  const before = await probeDaemon(state);
  assert.equal(await stopDaemon(state, { force: true }), true);
  assert.ok(existsSync(join(state, "daemon.json")), "it had no time to remove it");
  assert.equal(await findDaemon(state), undefined);
  const again = await startDaemon(options);
  assert.deepEqual([again.existed, again.daemon.url], [false, daemon.url]);
  assert.notEqual((await probeDaemon(state))?.instance, before?.instance);
});

test("a daemon that was stopped is started again at the same port", async (t) => {
  const { state, up } = upScene(t);
  const first = await up();
  first.child.kill("SIGTERM");
  assert.equal(await first.ended, 0);
  assert.equal(existsSync(join(state, "daemon.json")), false);
  const { daemon } = await startDaemon({ state, from: state });
  assert.equal(daemon.url, first.found.daemon.url);
});

test("a daemon whose port is in use listens on another", async (t) => {
  const { folder, state } = upScene(t);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  mkdirSync(state, { mode: 0o700 });
  const url = `http://127.0.0.1:${port}`;
  writeDaemonFile(state, { pid: 1, process_start: "x", url, instance: "old", started_at: 1, version: "0" });
  const { daemon } = await startDaemon({ state, from: folder });
  assert.notEqual(new URL(daemon.url).port, String(port));
  await assert.rejects(startDaemon({ state: join(folder, "other"), from: folder, port }), {
    code: "busy",
    message: new RegExp(`127\\.0\\.0\\.1:${port}.*--port`),
  });
});

test("a daemon that cannot start reports its own error with its code", async (t) => {
  const { folder, state } = upScene(t);
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(join(state, "tutti.db"), "this is no database, whatever its name says".repeat(100));
  await assert.rejects(startDaemon({ state, from: folder, port: 0 }), {
    code: "corrupt",
    message: /not a Tutti database/,
  });
  const wide = { state: join(folder, "wide"), from: folder, host: "0.0.0.0", port: 0 };
  await assert.rejects(startDaemon(wide), { code: "refused", message: /--tls-cert/ });
});

test("if a command works on the state, it is found and used instead of a new daemon", async (t) => {
  const { folder, state, launch } = upScene(t);
  const invoke = launch(process.execPath, [bin, "invoke", slowInvocation(folder, 20_000), "--state", state]);
  for (let tries = 0; !existsSync(join(state, "daemon.json")); tries += 1) {
    assert.ok(tries < 500, "it works");
    await sleep(20);
  }
  const { daemon, existed } = await startDaemon({ state, from: folder, port: 0 });
  assert.deepEqual([daemon.pid, daemon.command, existed], [invoke.pid, true, true]);
});

test("a second daemon in the foreground says which process works there already", async (t) => {
  const { state, up, launch } = upScene(t);
  const { found } = await up();
  const other = watched(launch(process.execPath, [bin, "up", "--state", state, "--port", "0", "--json"]));
  const status = await other.ended;
  assert.match(other.said(), new RegExp(`${found.daemon.pid}`));
  assert.match(other.said(), new RegExp(found.daemon.url.replaceAll(".", "\\.")));
  assert.ok(status === 0 || status === 7, `${status}: ${other.said()}`);
});

test("a daemon that hangs is reported as unreachable, and can be killed by force", async (t) => {
  const { state, up } = upScene(t);
  const { child, found } = await up();
  child.kill("SIGSTOP");
  await assert.rejects(findDaemon(state), {
    code: "unreachable",
    message: new RegExp(`process ${child.pid}.*--force`),
  });
  assert.equal(await stopDaemon(state, { force: true }), true);
  assert.equal(await isRunning(found.process), false);
});

test("a daemon whose disk is full says so, ends with that, and has lost nothing that was acknowledged", async (t) => {
  const { folder, state, up, launch } = upScene(t);
  const first = await up();
  await stopDaemon(state, { graceMs: 100 });
  await first.ended;
  const args = [bin, "up", "--state", state, "--port", "0", "--json"];
  // No file may grow past 400 kB: to SQLite that is a disk that is full.
  const full = launch("bash", ["-c", 'ulimit -f 400; exec "$0" "$@"', process.execPath, ...args]);
  const { ended, said } = watched(full);
  for (let tries = 0; (await findDaemon(state)) === undefined; tries += 1) {
    assert.ok(tries < 300, said());
    await sleep(30);
  }
  const found = await probeDaemon(state);
  assert.ok(found);
  const client = clientOf(found);
  const text = readFileSync(slowInvocation(folder, 60_000), "utf8");
  const acknowledged: string[] = [];
  for (let tries = 0; tries < 500; tries += 1) {
    try {
      acknowledged.push((await client.invoke(text + " ".repeat(tries), { folder, anew: true })).task);
    } catch {
      break;
    }
  }
  await client.close();
  assert.equal(await ended, 6, said());
  assert.match(said(), /disk_full|the disk is full/);
  assert.ok(acknowledged.length > 0 && acknowledged.length < 500, `${acknowledged.length} were taken`);
  const again = await up();
  const reader = clientOf(again.found);
  for (const task of acknowledged) assert.equal((await reader.task(task)).id, task);
  await reader.close();
});

test("an unhandled error is logged and ends the daemon with status 1, in order", async (t) => {
  const { state, up } = upScene(t);
  const bomb = "data:text/javascript,process.on('SIGUSR2',()=>{Promise.reject(new Error('nobody took care'))})";
  const { child, ended, said } = await up({ node: ["--import", bomb] });
  child.kill("SIGUSR2");
  assert.equal(await ended, 1);
  assert.match(said(), /nobody took care/);
  assert.equal(existsSync(join(state, "daemon.json")), false);
});

const noOpenssl =
  spawnSync(openssl, ["version"]).status === 0 ? false : "there is no openssl to make a certificate with";

test("a daemon beyond loopback with TLS is found by its own certificate", { skip: noOpenssl }, async (t) => {
  const { folder, state } = upScene(t);
  const tls = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const named = ["-subj", "/CN=tutti", "-addext", "subjectAltName=DNS:tutti.example"];
  execFileSync(openssl, [...made, ...named, "-keyout", tls.key, "-out", tls.cert], { stdio: "ignore" });
  const { daemon } = await startDaemon({ state, from: folder, host: "0.0.0.0", port: 0, tls });
  assert.match(daemon.url, /^https:/);
  const found = await probeDaemon(state);
  assert.ok(found);
  const client = clientOf(found);
  assert.equal((await client.status()).pid, daemon.pid);
  await client.close();
  assert.equal(await stopDaemon(state, { graceMs: 100 }), true);
  assert.equal(await waitForExit(found.process, 0), true);
});
