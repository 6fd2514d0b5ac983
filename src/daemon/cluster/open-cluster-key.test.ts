import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { newDatabase } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { joinDatabase } from "../../store/postgres/postgres-store.ts";
import { clusterEnvironment } from "./cluster-environment.ts";
import { newClusterKey } from "./cluster-key.ts";
import { clusterKeyFile, findClusterKey, keepClusterKey } from "./find-cluster-key.ts";
import { openClusterKey } from "./open-cluster-key.ts";

const identity = { name: "a", url: "", labels: [], version: "test", leaseMs: 5_000 };
const withCode = (code: string, said: RegExp) => (thrown: unknown) => {
  assert.ok(thrown instanceof TuttiError, String(thrown));
  assert.equal(thrown.code, code, thrown.message);
  assert.match(thrown.message, said);
  return true;
};

test("the first node of an empty database makes the key, for its owner alone, and finds it again", async (t) => {
  const [folder, address] = [tempFolder(t), newDatabase()];
  const made = await openClusterKey({ folder }, address);
  assert.equal(made.made, true);
  assert.equal(statSync(clusterKeyFile(folder)).mode & 0o777, 0o600);
  assert.equal(readFileSync(clusterKeyFile(folder), "utf8"), `${made.text}\n`);
  const again = await openClusterKey({ folder }, address);
  assert.deepEqual([again.made, again.text], [false, made.text]);
});

test("the first node of an empty database uses the key that it was given, and makes none", async (t) => {
  for (const isNamed of [false, true]) {
    const [folder, address, given] = [tempFolder(t), newDatabase(), newClusterKey()];
    const file = join(tempFolder(t), "key");
    if (isNamed) writeFileSync(file, given, { mode: 0o600 });
    else keepClusterKey(folder, given);
    const opened = await openClusterKey(isNamed ? { folder, file } : { folder }, address);
    assert.deepEqual([opened.made, opened.text], [false, given]);
    assert.equal(readFileSync(clusterKeyFile(folder), "utf8"), `${given}\n`);
  }
});

test("a node without the key, or with another one, is refused before it joins", async (t) => {
  const address = newDatabase();
  const { key, text } = await openClusterKey({ folder: tempFolder(t) }, address);
  const folder = tempFolder(t);
  await assert.rejects(openClusterKey({ folder }, address), withCode("unauthorized", /cluster-key show/));
  assert.equal(existsSync(clusterKeyFile(folder)), false);
  await assert.rejects(joinDatabase(address, identity), withCode("unauthorized", /does not have/));
  keepClusterKey(folder, newClusterKey());
  await assert.rejects(openClusterKey({ folder }, address), withCode("unauthorized", /another cluster key/));
  const keyCheck = findClusterKey({ folder })?.key.check;
  await assert.rejects(joinDatabase(address, { ...identity, keyCheck }), withCode("unauthorized", /another/));
  // None of them is among the nodes: the one with the key is the first.
  assert.equal((await joinDatabase(address, { ...identity, keyCheck: key.check })).incarnation, 1);
  rmSync(clusterKeyFile(folder));
  keepClusterKey(folder, text);
  assert.equal((await openClusterKey({ folder }, address)).text, text);
});

test("of nodes that find an empty database at the same time one makes the key, and the others leave none behind", async (t) => {
  const address = newDatabase();
  const folders = Array.from({ length: 4 }, () => tempFolder(t));
  const opened = await Promise.allSettled(folders.map((folder) => openClusterKey({ folder }, address)));
  assert.equal(opened.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(folders.filter((folder) => existsSync(clusterKeyFile(folder))).length, 1);
  for (const each of opened) if (each.status === "rejected") withCode("unauthorized", /cluster-key show/)(each.reason);
});

test("a named file counts before the environment, and the environment before the state folder", async (t) => {
  const [folder, address] = [tempFolder(t), newDatabase()];
  const [named, given, kept] = [newClusterKey(), newClusterKey(), newClusterKey()];
  const file = join(tempFolder(t), "key");
  writeFileSync(file, named, { mode: 0o600 });
  assert.equal(findClusterKey({ folder }), undefined);
  keepClusterKey(folder, kept);
  assert.equal(findClusterKey({ folder })?.text, kept);
  process.env["TUTTI_CLUSTER_KEY"] = given;
  assert.equal(findClusterKey({ folder })?.text, given);
  assert.equal(findClusterKey({ folder, file })?.text, named);
  // What a process is started with later does not have it.
  assert.equal(process.env["TUTTI_CLUSTER_KEY"], undefined);
  assert.equal(clusterEnvironment().clusterKey, given);
  await assert.rejects(openClusterKey({ folder, file }, address), withCode("conflict", /another key/));
  rmSync(clusterKeyFile(folder));
});

test("a key file that others can read is refused", (t) => {
  const folder = tempFolder(t);
  writeFileSync(clusterKeyFile(folder), newClusterKey());
  chmodSync(clusterKeyFile(folder), 0o644);
  const file = clusterKeyFile(folder);
  assert.throws(() => findClusterKey({ folder: tempFolder(t), file }), withCode("refused", /others/));
});
