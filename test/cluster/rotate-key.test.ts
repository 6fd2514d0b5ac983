// Two nodes as real processes whose cluster is given another key, by the commands of a person on their machines.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { z } from "zod";

import { clusterKeyFrom } from "../../src/daemon/cluster/cluster-key.ts";
import { ask, connectTo } from "../../src/store/postgres/database-connection.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { type UpScene, upScene } from "../support/up-process.ts";
import { until, within } from "../support/wait-until.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");

function at({ folder, state }: UpScene, args: readonly string[], input = "") {
  const env = { PATH: process.env["PATH"], HOME: folder, TUTTI_COMMAND: "tutti", NO_COLOR: "1" };
  const options = { env, cwd: folder, input, encoding: "utf8" } as const;
  return spawnSync(process.execPath, [bin, ...args, "--state", state], options);
}

const Setup = z.object({ providers: z.array(z.looseObject({ provider: z.string() })) });

/** Whether the node can use the key of the provider that is sealed in the database. */
async function hasProvider({ state }: UpScene, provider: string): Promise<boolean> {
  const admin = readFileSync(join(state, "admin.key"), "utf8").trim();
  const { url } = z.object({ url: z.string() }).parse(JSON.parse(readFileSync(join(state, "daemon.json"), "utf8")));
  const answer = await fetch(`${url}/v1/setup`, { headers: { authorization: `Bearer ${admin}` } });
  // A node that has just come up may still be starting.
  if (!answer.ok) return false;
  const { providers } = Setup.parse(await answer.json());
  return JSON.stringify(providers.find((each) => each.provider === provider)).includes(`"key_from":"login"`);
}

test("a cluster is given another key while its nodes work; one that does not have it stops and says what to do", async (t) => {
  const server = startPostgres();
  t.after(() => server.stop());
  const [a, b] = [upScene(t), upScene(t)];
  await a.up({ args: ["--database", server.url, "--node", "node-a"] });
  const old = at(a, ["cluster-key", "show"]).stdout.trim();
  assert.equal(at(b, ["cluster-key", "set"], old).status, 0);
  const second = await b.up({ args: ["--database", server.url, "--node", "node-b"] });
  assert.equal(at(a, ["models", "login", "openai"], "sk-hunter2secret\n").status, 0);
  await until(() => hasProvider(b, "openai"));

  // The new key is made, and counts only when every node has it.
  const early = at(a, ["cluster-key", "rotate"]);
  assert.equal(early.status, 7, early.stderr);
  assert.match(early.stderr, /nodes work that do not have it: node-b\. .*cluster-key set --next/);
  assert.equal(at(a, ["cluster-key", "show"]).stdout.trim(), old);
  const next = at(a, ["cluster-key", "show", "--next"]).stdout.trim();
  assert.notEqual(next, old);
  assert.equal(at(b, ["cluster-key", "set", "--next"], next).status, 0);
  const rotated = at(a, ["cluster-key", "rotate"]);
  assert.equal(rotated.status, 0, rotated.stderr);
  for (const node of [a, b]) {
    assert.equal(at(node, ["cluster-key", "show"]).stdout.trim(), next);
    assert.equal(existsSync(join(node.state, "cluster.key.next")), false);
    assert.equal(await hasProvider(node, "openai"), true);
  }
  // The old key opens nothing in the tables any more, and the new one everything.
  const client = await connectTo({ url: server.url, schema: "tutti" });
  t.after(() => client.end());
  const sealed = await ask(
    client,
    "SELECT body FROM documents WHERE name = 'signing-key' UNION ALL SELECT row->>'body' FROM shared_changes WHERE row->>'name' = 'signing-key'",
  );
  assert.ok(sealed.length > 1);
  for (const { body } of sealed) {
    assert.throws(() => clusterKeyFrom(old, "old").unseal("signing-key", String(body)), { code: "corrupt" });
    assert.match(clusterKeyFrom(next, "new").unseal("signing-key", String(body)), /^[0-9a-f]+$/);
  }
  // Nodes still know each other, and what is kept from now on is sealed with the new key.
  assert.match(at(b, ["nodes"]).stdout, /node-a/);
  assert.equal(at(b, ["models", "login", "anthropic"], "sk-other-secret\n").status, 0);
  await until(() => hasProvider(a, "anthropic"));

  // Without the next one, a node stops in order.
  const forced = at(a, ["cluster-key", "rotate", "--force"]);
  assert.equal(forced.status, 0, forced.stderr);
  const ended = await within(() => second.ended, "the end of the node without the key");
  assert.equal(ended, 5, second.said());
  assert.match(
    second.said(),
    /the key of this cluster was changed, and this machine has an old one; run `tutti cluster-key show`/,
  );
  assert.equal(await hasProvider(a, "openai"), true);
  assert.match(
    at(b, ["models", "login", "openai"], "sk-stale\n").stderr,
    /was changed, and this machine has an old one/,
  );
  const refused = at(b, ["up", "--port", "0"]);
  assert.equal(refused.status, 5, refused.stderr);
  assert.match(refused.stderr, /run `tutti cluster-key show` on a node that has it and `tutti cluster-key set` here/);
  assert.equal(at(b, ["cluster-key", "set"], at(a, ["cluster-key", "show"]).stdout).status, 0);
  await b.up();
  await until(() => hasProvider(b, "openai"));
});
