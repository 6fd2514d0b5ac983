// What people agreed to, and the secrets of a state folder, on their way into a database that nodes share and back.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";

import { keepClusterKey, clusterKeyFile } from "../../src/daemon/cluster/find-cluster-key.ts";
import { newClusterKey } from "../../src/daemon/cluster/cluster-key.ts";
import { documentsOf, openCommandDocuments } from "../../src/daemon/documents/documents-of.ts";
import { nameProjects } from "../../src/daemon/documents/project-names.ts";
import { exportRecords, importRecords } from "../../src/daemon/lifecycle/move-records.ts";
import { openSigningKeyIn } from "../../src/daemon/operators/signing-key.ts";
import { openAgreedServers } from "../../src/daemon/project/agreed-servers.ts";
import { keptAllowedChecks } from "../../src/daemon/project/allowed-checks.ts";
import { keptApprovals } from "../../src/daemon/project/kept-approvals.ts";
import { openTrust } from "../../src/daemon/project/trusted-configs.ts";
import { openTrustedSettings } from "../../src/daemon/project/trusted-settings.ts";
import { openProviderKeys } from "../../src/daemon/secrets/provider-keys.ts";
import { keepNodeSettings } from "../../src/daemon/state/node-settings.ts";
import { ask, connectTo, type DatabaseAddress } from "../../src/store/postgres/database-connection.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { codeOf } from "../support/engine-kit.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import { tempFolder } from "../support/temp-folder.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const quiet = (): void => undefined;
const config = { folder: "/srv/shop", hash: "one" };
const setting = { path: ".claude/settings.json", hash: "three" };
const calls = { tool: "run", argv: ["npm", "test"] as [string, ...string[]], unconfined: false, network: false };

/** A state folder with records and one of everything that people agree to or keep secret. */
async function usedFolder(t: TestContext): Promise<string> {
  const folder = tempFolder(t);
  openStore(folder).close();
  await openTrust(folder).record(config);
  await openTrust(folder).record({ folder: "/srv/old", hash: "gone" });
  await openTrust(folder).revoke("/srv/old");
  await openTrustedSettings(folder).record("/srv/shop", [setting]);
  await openAgreedServers(folder).agree("/srv/shop", "files", "four");
  await openAgreedServers(folder).agree("", "own", "five");
  await keptApprovals(folder).add({ project: "/srv/shop", calls, by: "ada", key: "key_1" });
  await keptAllowedChecks(folder).add("gol_1", ["npm", "test"], "Ada");
  await openProviderKeys(folder).put("anthropic", "secret-of-anthropic");
  await openSigningKeyIn(folder);
  return folder;
}

/** Everything, as the owner of the folder or a command of the node there sees it. */
async function agreedIn(folder: string): Promise<unknown> {
  return {
    trust: openTrust(folder)
      .list()
      .map(({ folder: project, hash, at }) => [project, hash, at]),
    revoked: openTrust(folder).isRevoked({ folder: "/srv/old", hash: "gone" }),
    settings: openTrustedSettings(folder).covers("/srv/shop", [setting]),
    servers: [
      openAgreedServers(folder).find("/srv/shop", "files")?.hash,
      openAgreedServers(folder).find("", "own")?.hash,
    ],
    approvals: keptApprovals(folder).list(),
    checks: [keptAllowedChecks(folder).has("gol_1", ["npm", "test"]), documentsOf(folder).read("allowed-checks.json")],
    providers: openProviderKeys(folder).list(),
    key: openProviderKeys(folder).get("anthropic"),
  };
}

const signingKeyOf = (folder: string): string => readFileSync(join(folder, "signing.key"), "utf8").trim();

async function textsIn(address: DatabaseAddress): Promise<string> {
  const client = await connectTo(address);
  try {
    return JSON.stringify([await ask(client, "SELECT * FROM documents"), await ask(client, "SELECT * FROM meta")]);
  } finally {
    await client.end();
  }
}

test(
  "what was agreed to and the secrets of a folder go into a database sealed, and back into private files",
  { skip },
  async (t) => {
    const folder = await usedFolder(t);
    const before = await agreedIn(folder);
    const address = newDatabase();
    const { notes } = await importRecords(folder, address, quiet);
    assert.match(notes.join("\n"), /one was made and is in .*cluster\.key/);
    const clusterKey = readFileSync(clusterKeyFile(folder), "utf8").trim();
    const stored = await textsIn(address);
    for (const secret of ["secret-of-anthropic", signingKeyOf(folder), clusterKey]) assert.ok(!stored.includes(secret));
    assert.match(stored, /\/srv\/shop/);

    // A command at a node that has the key sees all of it, with who agreed.
    const node = tempFolder(t);
    keepClusterKey(node, clusterKey);
    keepNodeSettings(node, address);
    await openCommandDocuments(node);
    assert.deepEqual(await agreedIn(node), before);
    assert.match(openTrust(node).list()[0]?.by ?? "", / at /);

    const back = tempFolder(t);
    assert.equal(await codeOf(exportRecords(back, address, quiet)), "unauthorized");
    const exported = await exportRecords(back, { ...address, keyFile: clusterKeyFile(folder) }, quiet);
    assert.deepEqual(exported.notes, []);
    assert.deepEqual(await agreedIn(back), before);
    assert.equal(signingKeyOf(back), signingKeyOf(folder));
    const files = readdirSync(back, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const open = files.filter(({ parentPath, name }) => (statSync(join(parentPath, name)).mode & 0o077) !== 0);
    assert.deepEqual(
      open.map(({ name }) => name),
      [],
    );
  },
);

test("what a database has stays when a second folder comes, and what differs is said", { skip }, async (t) => {
  const [one, two] = [await usedFolder(t), await usedFolder(t)];
  await openTrust(two).record({ folder: "/srv/other", hash: "six" });
  await openTrust(two).record({ folder: "/srv/old", hash: "gone" });
  await openProviderKeys(two).put("anthropic", "another-secret");
  await openProviderKeys(two).put("openai", "secret-of-openai");
  const address = newDatabase();
  await importRecords(one, address, quiet);
  assert.equal(await codeOf(importRecords(two, address, quiet)), "unauthorized");
  assert.ok(!existsSync(clusterKeyFile(two)));
  const { notes } = await importRecords(two, { ...address, keyFile: clusterKeyFile(one) }, quiet);
  assert.deepEqual(
    notes.map((note) => /key of anthropic|signing keys/.exec(note)?.[0]),
    ["key of anthropic", "signing keys"],
  );
  // The folder had its own records before, and gets those of both.
  await exportRecords(two, address, quiet);
  assert.deepEqual(
    openTrust(two)
      .list()
      .map(({ folder }) => folder),
    ["/srv/shop", "/srv/other"],
  );
  assert.ok(openTrust(two).isRevoked({ folder: "/srv/old", hash: "gone" }), "nobody agrees again by importing");
  assert.equal(keptApprovals(two).list().length, 1);
  const keys = openProviderKeys(two);
  assert.deepEqual([keys.get("anthropic"), keys.get("openai")], ["secret-of-anthropic", "secret-of-openai"]);
  assert.equal(signingKeyOf(two), signingKeyOf(one));
});

test("what was taken back in the database does not come back from the old files of the folder", { skip }, async (t) => {
  const folder = await usedFolder(t);
  const address = newDatabase();
  await importRecords(folder, address, quiet);
  const node = tempFolder(t);
  keepClusterKey(node, readFileSync(clusterKeyFile(folder), "utf8"));
  keepNodeSettings(node, address);
  await openCommandDocuments(node);
  await openTrust(node).revoke("/srv/shop");
  await openProviderKeys(node).remove("anthropic");
  await exportRecords(folder, address, quiet);
  assert.deepEqual([openTrust(folder).isTrusted(config), openTrust(folder).isRevoked(config)], [false, true]);
  assert.deepEqual(openProviderKeys(folder).list(), []);
});

test("projects that have a name of their own among nodes are found by their folder again", { skip }, async (t) => {
  const [folder, shop] = [await usedFolder(t), tempFolder(t)];
  await openTrust(folder).record({ folder: shop, hash: "seven" });
  nameProjects(folder, [`shop=${shop}`]);
  const address = newDatabase();
  await importRecords(folder, address, quiet);
  assert.doesNotMatch(await textsIn(address), new RegExp(shop));
  await exportRecords(folder, address, quiet);
  assert.ok(openTrust(folder).isTrusted({ folder: shop, hash: "seven" }));
});

test("an import with the wrong key, or of a document that cannot be read, changes nothing", { skip }, async (t) => {
  const [one, two] = [await usedFolder(t), await usedFolder(t)];
  const address = newDatabase();
  await importRecords(one, address, quiet);
  const before = await textsIn(address);
  keepClusterKey(two, newClusterKey());
  assert.equal(await codeOf(importRecords(two, address, quiet)), "unauthorized");
  openStore(two).close();
  assert.equal(await textsIn(address), before);
  const three = await usedFolder(t);
  writeFileSync(join(three, "trusted.json"), "{");
  const given = { ...address, keyFile: clusterKeyFile(one) };
  assert.equal(await codeOf(importRecords(three, given, quiet)), "corrupt");
  openStore(three).close();
  assert.equal(await textsIn(address), before);
});
