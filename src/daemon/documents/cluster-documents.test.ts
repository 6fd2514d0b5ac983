import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { newDatabase } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import type { Secret } from "../../core/redaction/secret-matcher.ts";
import { ask, connectTo, type DatabaseAddress } from "../../store/postgres/database-connection.ts";
import { largestDocument } from "../../store/postgres/documents-sql.ts";
import { joinDatabase, openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { clusterKeyFrom, newClusterKey } from "../cluster/cluster-key.ts";
import { keepNodeSettings } from "../state/node-settings.ts";
import { clusterKeyFile, keepClusterKey } from "../cluster/find-cluster-key.ts";
import { openSharedSigningKey } from "../operators/signing-key.ts";
import { openAgreedServers } from "../project/agreed-servers.ts";
import { AllowedFile, keptAllowedChecks } from "../project/allowed-checks.ts";
import { keptApprovals } from "../project/kept-approvals.ts";
import { openTrust, policyContent } from "../project/trusted-configs.ts";
import { openTrustedSettings } from "../project/trusted-settings.ts";
import { openProviderKeys } from "../secrets/provider-keys.ts";
import { signRequestId, verifyRequestId } from "../operators/signed-request-id.ts";
import { nodeDocuments } from "./cluster-documents.ts";
import type { Documents } from "./documents.ts";
import { openCommandDocuments, useDocuments } from "./documents-of.ts";
import { nameProjects, projectNames } from "./project-names.ts";

const text = newClusterKey();
const key = clusterKeyFrom(text, "the test");

interface TestNode {
  readonly state: string;
  readonly documents: Documents;
}

/** A node that has joined, with a state folder of its own, as on another machine. */
async function joined(
  t: TestContext,
  address: DatabaseAddress,
  name: string,
  projects: readonly string[] = [],
): Promise<TestNode> {
  const state = tempFolder(t);
  if (projects.length > 0) nameProjects(state, projects);
  const identity = { name, url: "", labels: [], version: "test", leaseMs: 60_000, keyCheck: key.check };
  const store = openPostgresStore(address, await joinDatabase(address, identity), tempFolder(t));
  t.after(() => store.close());
  const documents = nodeDocuments(store, { by: `node ${name}`, projects: projectNames(state), key: () => key });
  t.after(useDocuments(state, documents));
  return { state, documents };
}

async function rowsOf(address: DatabaseAddress, sql: string) {
  const client = await connectTo(address);
  try {
    return await ask(client, sql);
  } finally {
    await client.end();
  }
}

test("what is agreed to at one node counts at every other, with who and when, and leaves no file", async (t) => {
  const address = newDatabase();
  const [a, b] = [await joined(t, address, "a"), await joined(t, address, "b")];
  const config = { folder: "/srv/shop", hash: "one" };
  const policy = policyContent("/srv/shop", "two");
  const setting = { path: ".claude/settings.json", hash: "three" };
  const calls = { tool: "run", argv: ["npm", "test"] as [string, ...string[]], unconfined: false, network: false };
  const before = Date.now();
  await openTrust(a.state).record(config);
  await openTrust(a.state).record(policy);
  await openTrustedSettings(a.state).record("/srv/shop", [setting]);
  await openAgreedServers(a.state).agree("/srv/shop", "files", "four");
  await keptApprovals(a.state).add({ project: "/srv/shop", calls, by: "ada", key: "key_1" });
  await until(() => keptApprovals(b.state).find("/srv/shop", calls) !== undefined);
  assert.deepEqual([openTrust(b.state).isTrusted(config), openTrust(b.state).isTrusted(policy)], [true, true]);
  assert.equal(openTrust(b.state).isTrusted({ folder: "/srv/other", hash: "one" }), false);
  assert.equal(openTrustedSettings(b.state).covers("/srv/shop", [setting]), true);
  assert.deepEqual(openAgreedServers(b.state).find("/srv/shop", "files")?.by, "node a");
  assert.deepEqual(
    openTrust(b.state)
      .list()
      .map(({ at, ...rest }) => ({ ...rest, isNow: at >= before && at <= Date.now() })),
    [
      { folder: "/srv/shop", hash: "one", by: "node a", isNow: true },
      { folder: "/srv/shop", hash: "policy:two", by: "node a", isNow: true },
    ],
  );
  const [approval] = keptApprovals(b.state).list();
  assert.deepEqual([approval?.by, approval?.key], ["ada", "key_1"]);
  const rows = await rowsOf(address, "SELECT name, changed_by FROM documents ORDER BY name");
  assert.deepEqual(
    rows.map((row) => row["name"]),
    ["approvals.json", "mcp-servers.json", "trusted-settings.json", "trusted.json"],
  );
  assert.deepEqual(new Set(rows.map((row) => row["changed_by"])), new Set(["node a"]));
  assert.deepEqual([readdirSync(a.state), readdirSync(b.state)], [[], []]);
});

test("what is taken back at one node counts nowhere any more when that returns", async (t) => {
  const address = newDatabase();
  const [a, b] = [await joined(t, address, "a"), await joined(t, address, "b")];
  const content = { folder: "/srv/shop", hash: "one" };
  for (let turn = 0; turn < 5; turn += 1) {
    await openTrust(a.state).record(content);
    // Also when this node has not heard of the agreement yet.
    assert.equal(await openTrust(b.state).revoke("/srv/shop"), true);
    assert.deepEqual([openTrust(a.state).isTrusted(content), openTrust(a.state).isRevoked(content)], [false, true]);
  }
  assert.equal(await openTrust(b.state).revoke("/srv/shop"), false);
});

test("whoever takes something back waits for a node that does not answer, until its lease has ended", async (t) => {
  const address = newDatabase();
  const { state } = await joined(t, address, "a");
  const command = await commandFolder(t, address);
  const content = { folder: "/srv/shop", hash: "one" };
  const calls = { tool: "write", unconfined: false, network: false };
  const shown = { path: ".claude/settings.json", hash: "three" };
  await openTrust(state).record(content);
  await openTrust(command).record({ folder: "/srv/till", hash: "one" });
  await openTrustedSettings(state).record("/srv/shop", [shown]);
  await openAgreedServers(state).agree("/srv/shop", "files", "four");
  const { id } = await keptApprovals(state).add({ project: "/srv/shop", calls, by: "ada" });
  await openProviderKeys(state).put("openai", "sk-hunter2secret");
  await rowsOf(address, "SELECT join_cluster('frozen', '', '{}', 'test', 60000)");
  const takenBack = [
    openTrust(state).revoke("/srv/shop"),
    openTrust(command).revoke("/srv/till"),
    openTrustedSettings(state).revoke("/srv/shop"),
    openAgreedServers(state).revoke("/srv/shop"),
    keptApprovals(state).revoke(id),
    openProviderKeys(state).remove("openai"),
  ];
  const isDone = new Set<number>();
  takenBack.forEach((each, at) => void each.then(() => isDone.add(at)));
  // Here all of it holds already.
  await until(() => !openTrust(state).isTrusted(content) && !openTrust(state).knows("/srv/till"));
  await until(
    () => !openTrustedSettings(state).covers("/srv/shop", [shown]) && openProviderKeys(state).list().length === 0,
  );
  await until(() => openAgreedServers(state).list().length === 0 && keptApprovals(state).list().length === 0);
  await rowsOf(address, "SELECT pg_sleep(0.2)");
  assert.deepEqual([...isDone], []);
  await rowsOf(address, "UPDATE nodes SET alive = false WHERE name = 'frozen'");
  await Promise.all(takenBack);
});

test("a check that was allowed for a goal at one node is allowed at every other, with who and when", async (t) => {
  const address = newDatabase();
  const [a, b] = [await joined(t, address, "a"), await joined(t, address, "b")];
  const before = Date.now();
  await Promise.all([
    keptAllowedChecks(a.state).add("gol_1", ["npm", "test"], "Ada"),
    keptAllowedChecks(b.state).add("gol_1", ["npm", "run", "lint"], "Bo"),
  ]);
  for (const { state } of [a, b]) {
    await until(() => keptAllowedChecks(state).has("gol_1", ["npm", "test"]));
    await until(() => keptAllowedChecks(state).has("gol_1", ["npm", "run", "lint"]));
    assert.equal(keptAllowedChecks(state).has("gol_2", ["npm", "test"]), false);
  }
  const [goal, ...others] = AllowedFile.parse(JSON.parse(a.documents.read("allowed-checks.json") ?? ""));
  assert.deepEqual([goal?.checks.map(({ by }) => by).toSorted(), others], [["Ada", "Bo"], []]);
  assert.ok(goal?.checks.every(({ at = 0 }) => at >= before && at <= Date.now()));
  assert.deepEqual([readdirSync(a.state), readdirSync(b.state)], [[], []]);
});

test("of changes that nodes and commands make at the same time none is lost", async (t) => {
  const address = newDatabase();
  const nodes = [await joined(t, address, "a"), await joined(t, address, "b")];
  const command = await commandFolder(t, address);
  const all = [...nodes.map(({ state }) => state), command].flatMap((state, place) =>
    Array.from({ length: 8 }, (_, at) => openTrust(state).record({ folder: `/p${at % 3}`, hash: `${place}-${at}` })),
  );
  await Promise.all(all);
  for (const { state } of nodes) await until(() => openTrust(state).list().length === 24);
});

/** As the machine of a node looks to a command. */
async function commandFolder(t: TestContext, { url, schema }: DatabaseAddress): Promise<string> {
  const state = tempFolder(t);
  keepNodeSettings(state, { url, schema });
  keepClusterKey(state, text);
  await openCommandDocuments(state);
  return state;
}

test("a command on the machine of a node reads and changes what all nodes share", async (t) => {
  const address = newDatabase();
  const a = await joined(t, address, "a");
  await openTrust(a.state).record({ folder: "/srv/shop", hash: "one" });
  const command = await commandFolder(t, address);
  assert.equal(openTrust(command).list().length, 1);
  await openTrust(command).record({ folder: "/srv/shop", hash: "two" });
  await until(() => openTrust(a.state).list().length === 2);
  assert.match(openTrust(a.state).list()[1]?.by ?? "", / at /);
});

test("a project that lies elsewhere on another machine is the same where the person gave it the same name", async (t) => {
  const address = newDatabase();
  const [home, other] = [tempFolder(t), tempFolder(t)];
  const [shop, elsewhere, stranger] = [join(home, "shop"), join(other, "src-shop"), join(other, "shop")];
  for (const folder of [shop, elsewhere, stranger]) mkdirSync(folder);
  const [a, b] = [
    await joined(t, address, "a", [`shop=${shop}`]),
    await joined(t, address, "b", [`old=${elsewhere}`, `shop=${elsewhere}`]),
  ];
  assert.throws(() => nameProjects(b.state, ["shop=relative"]), { code: "usage" });
  await openTrust(a.state).record({ folder: shop, hash: "one" });
  await until(() => openTrust(b.state).isTrusted({ folder: elsewhere, hash: "one" }));
  // The same last part of a path says nothing.
  assert.equal(openTrust(b.state).isTrusted({ folder: stranger, hash: "one" }), false);
  assert.equal(openTrust(b.state).isTrusted({ folder: elsewhere, hash: "two" }), false);
});

test("provider keys are sealed in the database, told as secrets before they are used, and gone everywhere when removed", async (t) => {
  const address = newDatabase();
  const [a, b] = [await joined(t, address, "a"), await joined(t, address, "b")];
  const told: Secret[] = [];
  const [atA, atB] = [openProviderKeys(a.state), openProviderKeys(b.state, (secret) => told.push(secret))];
  await atA.put("openai", "sk-hunter2secret");
  await until(() => atB.list().includes("openai"));
  assert.equal(atB.get("openai"), "sk-hunter2secret");
  assert.deepEqual(told, [{ name: "openai key", value: "sk-hunter2secret" }]);
  const everything = await rowsOf(
    address,
    "SELECT body AS text FROM documents UNION ALL SELECT row::text FROM shared_changes",
  );
  assert.ok(everything.length > 0);
  assert.doesNotMatch(JSON.stringify(everything), /hunter2/);
  assert.equal(existsSync(join(a.state, "provider-keys")), false);
  // Moved to the place of another provider, it cannot be opened there.
  const swapped = `UPDATE documents SET body = replace(body, 'openai', 'anthropic') WHERE name = 'provider-keys'`;
  await rowsOf(address, swapped);
  const command = await commandFolder(t, address);
  assert.throws(() => openProviderKeys(command).get("anthropic"), { code: "corrupt" });
  assert.equal(await openProviderKeys(command).remove("anthropic"), true);
  await until(() => atA.list().length === 0 && atB.list().length === 0);
});

test("all nodes sign with one key, which the database has only sealed", async (t) => {
  const address = newDatabase();
  const nodes = [await joined(t, address, "a"), await joined(t, address, "b"), await joined(t, address, "c")];
  const opened = await Promise.all(nodes.map(({ documents }) => openSharedSigningKey(documents, key)));
  assert.equal(new Set(opened.map((each) => each.text)).size, 1);
  const [first, second] = opened;
  assert.ok(first !== undefined && second !== undefined);
  const sid = "op-0a1b2c3d-0000-4000-8000-0123456789ab";
  const id = signRequestId({ sid, kind: "spawn", id: 42 }, first.signingKey);
  assert.deepEqual(verifyRequestId(id, sid, second.signingKey), { kind: "spawn", id: 42, again: 0 });
  const [row] = await rowsOf(address, "SELECT body FROM documents WHERE name = 'signing-key'");
  assert.ok(!String(row?.["body"]).includes(first.text));
  const other = clusterKeyFrom(newClusterKey(), "other");
  await assert.rejects(openSharedSigningKey(nodes[0]?.documents ?? assert.fail(), other), { code: "corrupt" });
});

test("a document that has grown too large is refused whole", async (t) => {
  const a = await joined(t, newDatabase(), "a");
  const body = "x".repeat(largestDocument);
  await a.documents.change("approvals.json", () => ({ after: body, result: undefined }));
  const grown = a.documents.change("approvals.json", (before) => ({ after: `${before}x`, result: undefined }));
  await assert.rejects(grown, { code: "too_large" });
  assert.equal(a.documents.read("approvals.json")?.length, largestDocument);
});

test("files in the folder of a node are neither read nor written, whatever they say", async (t) => {
  const state = tempFolder(t);
  const content = { folder: "/srv/shop", hash: "one" };
  await openTrust(state).record(content);
  assert.equal(openTrust(state).isTrusted(content), true);
  keepNodeSettings(state, { url: "postgres://me@/nowhere?host=/nowhere" });
  keepClusterKey(state, text);
  assert.equal(existsSync(clusterKeyFile(state)), true);
  assert.throws(() => openTrust(state).isTrusted(content), { code: "conflict" });
  await assert.rejects(openTrust(state).record(content), { code: "conflict" });
  assert.throws(() => openProviderKeys(state).get("openai"), { code: "conflict" });
  await assert.rejects(openCommandDocuments(state), { code: "unreachable" });
});

test("the person's own config of one machine says nothing about that of another", async (t) => {
  const a = await joined(t, newDatabase(), "a");
  await openAgreedServers(a.state).agree("", "files", "one");
  assert.equal(openAgreedServers(a.state).find("", "files")?.hash, "one");
  assert.doesNotMatch(a.documents.read("mcp-servers.json") ?? "", /"projects":\{"":/);
});
