import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { test, type TestContext } from "node:test";

import { codeOf } from "../../../test/support/engine-kit.ts";
import { newDatabase } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { DatabaseAddress } from "../../store/postgres/database-connection.ts";
import { joinDatabase } from "../../store/postgres/postgres-store.ts";
import { commandDocuments } from "../documents/cluster-documents.ts";
import { shareSigningKey } from "../operators/signing-key.ts";
import { sealedKeys } from "../secrets/sealed-keys.ts";
import { keepNodeSettings } from "../state/node-settings.ts";
import { ChangingKey } from "./changing-key.ts";
import { clusterKeyFrom, newClusterKey } from "./cluster-key.ts";
import { clusterKeyFile, keepClusterKey, nextKeyFile, ownClusterKey } from "./find-cluster-key.ts";
import { checkNodeToken, nodeToken } from "./node-token.ts";
import { keepGivenKey, openClusterKey } from "./open-cluster-key.ts";
import { rotateClusterKey } from "./rotate-cluster-key.ts";

/** The folder of a node that does not run, whose database has a provider key and a signing key. */
async function nodeFolder(t: TestContext, address: DatabaseAddress): Promise<string> {
  const folder = tempFolder(t);
  keepNodeSettings(folder, { url: address.url, schema: address.schema });
  await openClusterKey({ folder }, address);
  const documents = await documentsAt(folder, address);
  await sealedKeys(documents, () => ownClusterKey(folder)).put("openai", "sk-hunter2secret");
  await shareSigningKey(documents, ownClusterKey(folder), "ab".repeat(32));
  return folder;
}

const documentsAt = (folder: string, address: DatabaseAddress) =>
  commandDocuments(address, { by: "test", key: () => ownClusterKey(folder) });

const identity = { name: "a", url: "", labels: [], version: "test", leaseMs: 60_000 };

const textOf = (folder: string): string => readFileSync(clusterKeyFile(folder), "utf8").trim();

test("a rotation that was cut off after its commit is finished by the next start, or by running it again", async (t) => {
  for (const how of ["start", "again"]) {
    const address = newDatabase();
    const folder = await nodeFolder(t, address);
    const old = textOf(folder);
    await rotateClusterKey(folder, { force: false });
    const now = ownClusterKey(folder);
    assert.notEqual(textOf(folder), old);
    // As a kill between the commit and the renaming of the file leaves it.
    renameSync(clusterKeyFile(folder), nextKeyFile(folder));
    keepClusterKey(folder, old);
    if (how === "start") assert.equal((await openClusterKey({ folder }, address)).key.check, now.check);
    else await rotateClusterKey(folder, { force: false });
    assert.equal(ownClusterKey(folder).check, now.check);
    assert.equal(existsSync(nextKeyFile(folder)), false);
    const documents = await documentsAt(folder, address);
    assert.equal(sealedKeys(documents, () => now).get("openai"), "sk-hunter2secret");
    assert.equal(await shareSigningKey(documents, now, "cd".repeat(32)), "ab".repeat(32));
  }
});

test("a rotation that fails changes nothing, and neither does one with a key that the cluster does not have", async (t) => {
  const address = newDatabase();
  const folder = await nodeFolder(t, address);
  const text = textOf(folder);
  await joinDatabase(address, { ...identity, keyCheck: ownClusterKey(folder).check });
  await assert.rejects(rotateClusterKey(folder, { force: false }), { code: "conflict" });
  assert.equal(textOf(folder), text);
  const documents = await documentsAt(folder, address);
  assert.equal(sealedKeys(documents, () => ownClusterKey(folder)).get("openai"), "sk-hunter2secret");
  const stranger = tempFolder(t);
  keepNodeSettings(stranger, { url: address.url, schema: address.schema });
  keepClusterKey(stranger, newClusterKey());
  await assert.rejects(rotateClusterKey(stranger, { force: true }), { code: "unauthorized" });
  await assert.rejects(rotateClusterKey(tempFolder(t), { force: true }), { code: "not_found" });
});

test("whoever still has the old key keeps nothing that is sealed with it, and does not join", async (t) => {
  const address = newDatabase();
  const folder = await nodeFolder(t, address);
  const old = ownClusterKey(folder);
  const documents = await commandDocuments(address, { by: "test", key: () => old });
  await rotateClusterKey(folder, { force: false });
  const late = sealedKeys(documents, () => old);
  const changed = { code: "unauthorized", message: /the key of this cluster was changed/ };
  await assert.rejects(late.put("anthropic", "sk-late"), changed);
  await assert.rejects(joinDatabase(address, { ...identity, keyCheck: old.check }), changed);
  const now = await documentsAt(folder, address);
  assert.deepEqual(sealedKeys(now, () => ownClusterKey(folder)).list(), ["openai"]);
});

test("the key of another cluster is never replaced, one that the cluster had before is", async (t) => {
  const address = newDatabase();
  const folder = await nodeFolder(t, address);
  const old = textOf(folder);
  await rotateClusterKey(folder, { force: false });
  const now = textOf(folder);
  for (const [text, code] of [
    [newClusterKey(), "conflict"],
    [old, "none"],
  ] as const) {
    const other = tempFolder(t);
    keepNodeSettings(other, { url: address.url, schema: address.schema });
    keepClusterKey(other, text);
    assert.equal(await codeOf(keepGivenKey(other, now)), code === "none" ? "no error" : code);
    assert.equal(textOf(other), code === "none" ? now : text);
  }
});

test("for moments after a change nodes understand each other, whichever of them has heard of it", () => {
  const [old, text] = [clusterKeyFrom(newClusterKey(), "old"), newClusterKey()];
  const [early, late] = [new ChangingKey(old), new ChangingKey(old)];
  early.replace({ key: clusterKeyFrom(text, "new"), text });
  const request = { method: "GET", path: "/v1/status" };
  const token = (key: ChangingKey): string => nodeToken(key, { from: 1, to: 2, ...request }, 0);
  for (const [from, to] of [
    [early, late],
    [late, early],
    [early, early],
  ] as const) {
    assert.equal(checkNodeToken(token(from), request, { key: to, to: 2, now: 0 }), 1);
  }
  assert.throws(() => early.unseal("row", old.seal("row", "text")), { code: "corrupt" });
  assert.deepEqual(early.secrets, [{ name: "cluster key", value: text }]);
});
