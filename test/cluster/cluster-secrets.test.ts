// Two nodes as real processes, each with a folder of its own, and the commands that a person gives on their machines.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { z } from "zod";

import { newClusterKey } from "../../src/daemon/cluster/cluster-key.ts";
import { ask, connectTo } from "../../src/store/postgres/database-connection.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { upScene } from "../support/up-process.ts";
import { until } from "../support/wait-until.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");

interface Command {
  readonly input?: string;
  readonly cwd?: string;
}

test("a second node needs the key of the first; then what is kept and agreed to at one of them counts at both", async (t) => {
  const server = startPostgres();
  t.after(() => server.stop());
  const [a, b] = [upScene(t), upScene(t)];
  const at = ({ folder, state }: typeof a, args: readonly string[], { input = "", cwd = folder }: Command = {}) =>
    spawnSync(process.execPath, [bin, ...args, "--state", state], {
      env: { PATH: process.env["PATH"], HOME: folder, TUTTI_COMMAND: "tutti", NO_COLOR: "1" },
      cwd,
      input,
      encoding: "utf8",
    });
  await a.up({ args: ["--database", server.url] });

  const refused = at(b, ["up", "--port", "0", "--database", server.url]);
  assert.equal(refused.status, 5, refused.stderr);
  assert.match(refused.stderr, /whose key this node does not have; run `tutti cluster-key show`/);
  assert.equal(at(b, ["cluster-key", "set"], { input: "not a key" }).status, 3);
  assert.equal(at(b, ["cluster-key", "set"], { input: newClusterKey() }).status, 0);
  assert.match(at(b, ["up", "--port", "0"]).stderr, /another cluster key than the nodes of this database/);
  const shown = at(a, ["cluster-key", "show"]).stdout;
  assert.equal(at(b, ["cluster-key", "set"], { input: shown }).status, 7);
  writeFileSync(join(b.state, "cluster.key"), shown);
  assert.equal(statSync(join(b.state, "cluster.key")).mode & 0o777, 0o600);
  await b.up();

  const kept = at(a, ["models", "login", "openai", "--json"], { input: "sk-hunter2secret\n" });
  assert.equal(kept.status, 0, kept.stderr);
  assert.equal(existsSync(join(a.state, "provider-keys")), false);
  const Setup = z.object({ providers: z.array(z.looseObject({ provider: z.string() })) });
  await until(async () => {
    const admin = readFileSync(join(b.state, "admin.key"), "utf8").trim();
    const { url } = z.object({ url: z.string() }).parse(JSON.parse(readFileSync(join(b.state, "daemon.json"), "utf8")));
    const answer = await fetch(`${url}/v1/setup`, { headers: { authorization: `Bearer ${admin}` } });
    const { providers } = Setup.parse(await answer.json());
    return JSON.stringify(providers.find(({ provider }) => provider === "openai")).includes(`"key_from":"login"`);
  });

  const project = join(a.folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "tutti.config.json"), JSON.stringify({ approvals: { write: "ask" } }));
  assert.equal(at(a, ["trust"], { cwd: project }).status, 0);
  assert.match(at(b, ["trust", "--list", "--json"]).stdout, new RegExp(project));
  assert.equal(at(b, ["trust", "--revoke"], { cwd: project }).status, 0);
  assert.doesNotMatch(at(a, ["trust", "--list", "--json"]).stdout, new RegExp(project));
  assert.equal(existsSync(join(a.state, "trusted.json")) || existsSync(join(b.state, "trusted.json")), false);

  const client = await connectTo({ url: server.url, schema: "tutti" });
  t.after(() => client.end());
  const rows = await ask(client, "SELECT name, body, changed_by FROM documents");
  assert.deepEqual(new Set(rows.map((row) => row["name"])), new Set(["provider-keys", "signing-key", "trusted.json"]));
  assert.doesNotMatch(JSON.stringify(rows), /hunter2/);
  assert.equal(existsSync(join(a.state, "signing.key")), false);
});

test("a node that others could reach only without TLS is refused before it joins, unless the person says --insecure", (t) => {
  const { state, folder } = upScene(t);
  const up = (...args: readonly string[]) =>
    spawnSync(
      process.execPath,
      [bin, "up", "--port", "0", "--state", state, "--database", "postgres://me@127.0.0.1:1/none", ...args],
      { env: { PATH: process.env["PATH"], HOME: folder, TUTTI_COMMAND: "tutti" }, encoding: "utf8" },
    );
  assert.match(up("--host", "0.0.0.0").stderr, /--tls-cert and --tls-key, or --insecure/);
  assert.match(up("--host", "0.0.0.0", "--insecure").stderr, /database cannot be reached/);
  assert.match(up("--advertise", "http://node-a:7878").stderr, /would reach http:\/\/node-a:7878 without TLS/);
  assert.match(up("--advertise", "http://node-a:7878", "--insecure").stderr, /database cannot be reached/);
});
