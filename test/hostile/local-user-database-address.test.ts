// Another user of the machine looks for the address of the database and the key of the cluster: in the list of processes, in logs,
// in what the service answers, and in the environment of what it starts.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";

import { newClusterKey } from "../../src/daemon/cluster/cluster-key.ts";
import { probeDaemon } from "../../src/daemon/lifecycle/find-daemon.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { upScene, watched } from "../support/up-process.ts";
import { until } from "../support/wait-until.ts";

const bin = join(import.meta.dirname, "..", "..", "bin");
const password = "hunter2-Secret.Word";
const options = { skip: existsSync("/proc/self/cmdline") ? false : "there is no /proc to look into" };

function database(t: TestContext): { readonly server: PostgresServer; readonly url: string } {
  const server = startPostgres();
  t.after(() => server.stop());
  return { server, url: server.url.replace("tutti@", `tutti:${password}@`) };
}

const commandLineOf = (pid: number | undefined): string => readFileSync(`/proc/${pid}/cmdline`, "utf8");

function secretsIn(text: string, ...more: readonly string[]): string[] {
  return [password, ...more].filter((secret) => text.includes(secret));
}

/** Everything below the folder that others than its owner can read. */
function readableByOthers(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return all.filter((path) => statSync(path).isFile() && (statSync(path).mode & 0o077) !== 0);
}

test(
  "a node shows the address of its database and its key in no list of processes, log, answer or file for others",
  options,
  async (t) => {
    const { server, url } = database(t);
    const { state, up } = upScene(t);
    const { child, found, said } = await up({ args: ["--database", url, "--log-level", "trace"] });
    assert.deepEqual(secretsIn(commandLineOf(child.pid), "postgres:"), []);
    const key = readFileSync(join(state, "cluster.key"), "utf8").trim();
    const admin = readFileSync(join(state, "admin.key"), "utf8").trim();
    await until(() => /"msg":"up"/.test(said()));
    for (const path of ["/v1/status", "/v1/setup", "/v1/nodes", "/healthz", "/v1/models"]) {
      const answer = await fetch(`${found.daemon.url}${path}`, { headers: { authorization: `Bearer ${admin}` } });
      assert.deepEqual(secretsIn(await answer.text(), key), [], path);
    }
    server.crash();
    await until(() => /database cannot be reached|ECONNREFUSED|ENOENT/.test(said()));
    assert.match(said(), /cluster-key show/);
    assert.deepEqual(secretsIn(said(), key), []);
    assert.deepEqual(readableByOthers(state), []);
  },
);

test(
  "a daemon in a process of its own gets the address from its folder, and later starts need none",
  options,
  async (t) => {
    const { url } = database(t);
    const { state, folder } = upScene(t);
    const run = (...args: readonly string[]) =>
      promisify(execFile)(process.execPath, [join(bin, "tutti.js"), ...args, "--state", state], {
        env: { PATH: process.env["PATH"], TUTTI_COMMAND: "tutti", HOME: folder, TUTTI_DATABASE: url },
      });
    const { stdout, stderr } = await run("up", "--detach", "--json", "--port", "0");
    const { pid } = JSON.parse(stdout) as { pid: number };
    assert.deepEqual(secretsIn(commandLineOf(pid), "postgres:"), []);
    assert.deepEqual(secretsIn(`${stdout}${stderr}${readFileSync(join(state, "daemon.log"), "utf8")}`), []);
    await run("down");
    const again = spawn(process.execPath, [join(bin, "tutti.js"), "up", "--port", "0", "--json", "--state", state], {
      env: { PATH: process.env["PATH"], TUTTI_COMMAND: "tutti", HOME: folder },
    });
    t.after(() => again.kill("SIGKILL"));
    const { said } = watched(again);
    await until(async () => (await probeDaemon(state))?.daemon.pid === again.pid);
    assert.match(readFileSync(join(state, "node.json"), "utf8"), /"database"/);
    assert.deepEqual(secretsIn(said()), []);
  },
);

test("a start that fails tells why without the address, its password or the key", options, (t) => {
  const { folder } = upScene(t);
  const key = newClusterKey();
  const bad = [
    `postgres://me:${password}@127.0.0.1:1/none`,
    `postgres://me:${password}@no-such-host.invalid/none`,
    `postgres://me:${password}@bad host:x/none`,
    `mysql://me:${password}@127.0.0.1/none`,
    `postgres://me:${password}@127.0.0.1:1/none?sslmode=${password}`,
  ];
  for (const [at, url] of bad.entries()) {
    const state = join(folder, `state-${at}`);
    const ended = spawnSync(process.execPath, [join(bin, "tutti.js"), "up", "--database", url, "--state", state], {
      env: { PATH: process.env["PATH"], TUTTI_COMMAND: "tutti", HOME: folder, TUTTI_CLUSTER_KEY: key },
      encoding: "utf8",
    });
    assert.notEqual(ended.status, 0);
    assert.match(ended.stderr, /database/);
    assert.deepEqual(secretsIn(`${ended.stdout}${ended.stderr}`, key), [], url);
  }
});

test("a Node that is too old passes the address on in the environment, not in the arguments", options, async (t) => {
  const { url } = database(t);
  const { state, folder } = upScene(t);
  const started = JSON.stringify(join(bin, "installed-node.js"));
  const code = `import(${started}).then((old) => old.runOnInstalledNode()).then((problem) => { if (problem) console.error(problem); })`;
  const args = ["up", `--database=${url}`, "--port", "0", "--json", "--state", state];
  const old = spawn(process.execPath, ["-e", code, "tutti", ...args], {
    env: { PATH: process.env["PATH"], TUTTI_COMMAND: "tutti", HOME: folder },
  });
  t.after(() => old.kill("SIGKILL"));
  const { said } = watched(old);
  const daemon = await until(async () => {
    if (said().includes("not installed")) return "none" as const;
    return (await probeDaemon(state))?.daemon;
  });
  if (daemon === "none") return t.skip("no Node is installed with the package");
  assert.notEqual(daemon.pid, old.pid);
  assert.deepEqual(secretsIn(commandLineOf(daemon.pid), "postgres:"), []);
});

test("what a process of Tutti starts has neither the address nor the key in its environment", options, () => {
  const key = newClusterKey();
  const host = JSON.stringify(join(import.meta.dirname, "..", "..", "src", "daemon", "local-host.ts"));
  const code = `import ${host}; import { execFileSync } from "node:child_process"; console.log(execFileSync("env").toString());`;
  const shown = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, TUTTI_DATABASE: `postgres://me:${password}@db/x`, TUTTI_CLUSTER_KEY: key },
    encoding: "utf8",
  });
  assert.match(shown, /^PATH=/m);
  assert.deepEqual(secretsIn(shown, key), []);
});
