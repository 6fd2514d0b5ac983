// Commands that work with a daemon elsewhere, as real processes with another home folder than the daemon's.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { example, up } from "../../../test/support/cli-daemon.ts";
import { bench } from "../../../test/support/cli-process.ts";

const bin = join(import.meta.dirname, "..", "..", "..", "bin", "tutti.js");

function elsewhere(t: TestContext) {
  const b = bench(t);
  const home = join(b.folder, "home");
  mkdirSync(home);
  const { TUTTI_STATE: _, ...env } = process.env;
  const run = (args: readonly string[], { input = "", add = {} } = {}) => {
    const options = {
      cwd: b.folder,
      env: { ...env, HOME: home, NO_COLOR: "1", ...add },
      encoding: "utf8",
      input,
    } as const;
    return spawnSync(process.execPath, [bin, ...args], options);
  };
  return { b, home, run, env };
}

test("commands work with a daemon that --url, the environment or a context names", (t) => {
  const { b, home, run } = elsewhere(t);
  const { url, pid } = up(b);
  const keyFile = join(b.state, "admin.key");
  const flags = ["--url", url, "--key-file", keyFile];
  const started = run(["invoke", example("single"), "--cwd", b.folder, ...flags]);
  assert.equal(started.status, 0, started.stderr);
  const [root] = JSON.parse(run(["tasks", "--json", ...flags]).stdout);
  assert.match(run(["show", root.id, ...flags]).stdout, /completed/);
  assert.match(run(["status", ...flags]).stdout, new RegExp(`process ${pid}, [^]*${b.state}`));
  assert.match(run(["doctor", ...flags]).stdout, /^ok +daemon +http/);

  // What the commands above tell people to type works over there, too.
  assert.match(run(["attach", root.id, ...flags]).stderr, /rehearsal/);
  assert.match(run(["transcript", root.id, ...flags]).stdout, /completed/);
  assert.match(run(["approvals", "list", ...flags]).stdout, /^nothing is allowed for good/);
  assert.match(run(["runners", ...flags]).stdout, /^local {5}an agent with a model/);
  assert.match(run(["models", "--offline", ...flags]).stdout, /✓ rehearsal\/script[^]*prices are in US dollars/);
  const project = join(b.folder, "examples", "project");
  assert.match(run(["agents", "list", "--cwd", project, ...flags]).stdout, /^counter {2}Counts things in files/);
  assert.match(run(["agents", "show", "lead", "--cwd", project, ...flags]).stdout, /^lead \(project\)/);
  assert.equal(run(["models", "--cwd", "examples", ...flags]).status, 2, "a relative path is not of that machine");

  const key = readFileSync(keyFile, "utf8").trim();
  assert.equal(run(["tasks"], { add: { TUTTI_URL: url, TUTTI_KEY: key } }).status, 0);
  const added = run(["context", "add", "work", "--url", url], { input: `${key}\n` });
  assert.equal(added.status, 0, added.stderr);
  assert.equal(statSync(join(home, ".tutti", "contexts.json")).mode & 0o777, 0o600);
  assert.equal(run(["context", "use", "work"]).status, 0);
  const listed = run(["context", "list"]);
  assert.match(listed.stdout, new RegExp(`\\* work +${url} +key: kept here`));
  assert.ok(!listed.stdout.includes(key));
  assert.match(run(["tasks"]).stdout, new RegExp(root.id));

  // What cannot work elsewhere says so by name, and does nothing here instead.
  for (const args of [["prune", "--older", "1d"], ["up"], ["trust"], ["models", "login", "openai"]]) {
    const name = args
      .filter((word) => /^[a-z]+$/.test(word))
      .slice(0, args[0] === "models" ? 2 : 1)
      .join(" ");
    const { status, stderr } = run(args);
    assert.deepEqual([status, stderr.includes(`\`tutti ${name}\` works on this machine only`)], [2, true], stderr);
    assert.equal(run([...args, "--url", url]).status, 2);
  }
  assert.match(run(["tasks", "--context", "local"]).stderr, /there is no state in/);
  assert.equal(run(["down"]).stdout, "stopped; unfinished tasks go on at the next start\n");
  assert.equal(run(["tasks"]).status, 7, "what is here is not shown in its place");
  assert.equal(run(["context", "remove", "work"]).status, 0);
  assert.match(run(["context", "list"]).stdout, /^\* local/);
});

test("a key does not follow a redirect to another origin", async (t) => {
  const { home, env, b } = elsewhere(t);
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end("{}");
  });
  const first = createServer((_, response) => {
    const { port } = other.address() as AddressInfo;
    response.writeHead(307, { location: `http://127.0.0.1:${port}/v1/status` }).end();
  });
  for (const server of [other, first]) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
  }
  const { port } = first.address() as AddressInfo;
  const args = [bin, "status", "--url", `http://127.0.0.1:${port}`, "--key", "tk_secret"];
  const child = spawn(process.execPath, args, { cwd: b.folder, env: { ...env, HOME: home } });
  const status = await new Promise((resolve) => child.on("exit", resolve));
  assert.deepEqual([status, seen], [7, []]);
});
