// Finds the cluster key of a node, makes one for an empty database, and compares it with the database before the node joins.

import { rmSync } from "node:fs";
import { join } from "node:path";

import type pg from "pg";

import { createPrivateFile, readPrivateFile } from "../../files/private-file.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { connectTo, type DatabaseAddress } from "../../store/postgres/database-connection.ts";
import { prepareDatabase } from "../../store/postgres/database.ts";
import { keyCheckOf, requireKeyCheck } from "../../store/postgres/key-check.ts";
import { storageError } from "../../store/postgres/storage-error.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { clusterEnvironment, clusterKeyVariable } from "./cluster-environment.ts";
import { type ClusterKey, clusterKeyFrom, newClusterKey } from "./cluster-key.ts";

export interface FoundKey {
  readonly key: ClusterKey;
  /** The key itself, to be redacted everywhere. */
  readonly text: string;
}

export interface OpenedKey extends FoundKey {
  /** It was made now: the person has to give it to the other nodes. */
  readonly made: boolean;
}

export interface KeyPlace {
  readonly folder: string;
  /** A file that the person named. */
  readonly file?: string | undefined;
}

export function clusterKeyFile(folder: string): string {
  return join(folder, "cluster.key");
}

/** The first that is given counts: the named file, the environment, the state folder. */
export function findClusterKey({ folder, file }: KeyPlace): FoundKey | undefined {
  if (file !== undefined) {
    const text = readPrivateFile(file);
    if (text === undefined) throw new TuttiError("not_found", `there is no key file ${file}`);
    return found(text, file);
  }
  const { clusterKey } = clusterEnvironment();
  if (clusterKey !== undefined) return found(clusterKey, clusterKeyVariable);
  const own = clusterKeyFile(folder);
  const text = readPrivateFile(own);
  return text === undefined ? undefined : found(text, own);
}

/** For commands on the machine of a node. Throws `not_found` where there is none. */
export function ownClusterKey(folder: string): ClusterKey {
  const known = findClusterKey({ folder });
  if (known !== undefined) return known.key;
  const message = `the key of the cluster is neither in ${clusterKeyFile(folder)} nor in ${clusterKeyVariable}; set the variable as the node has it, or run \`tutti cluster-key set\``;
  throw new TuttiError("not_found", message);
}

/** Throws `unauthorized` when the nodes of the database have another key, or have one and this node has none. */
export async function openClusterKey(place: KeyPlace, address: DatabaseAddress): Promise<OpenedKey> {
  const known = findClusterKey(place);
  let client: pg.Client | undefined;
  try {
    client = await connectTo(address);
    await prepareDatabase(client, address.schema);
    if (known === undefined) return await makeKey(client, place.folder);
    await requireKeyCheck(client, known.key.check);
    // A named file may be gone at the next start, and commands on this machine need the key too.
    if (place.file !== undefined) keepClusterKey(place.folder, known.text);
    return { ...known, made: false };
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

/** Throws `conflict` when the folder has another key already. */
export function keepClusterKey(folder: string, text: string): void {
  const file = clusterKeyFile(folder);
  refuseSharedFolder(folder);
  makeFolder(folder);
  const wanted = found(text, "the input");
  if (createPrivateFile(file, `${wanted.text}\n`)) return;
  if (found(readPrivateFile(file) ?? "", file).key.check === wanted.key.check) return;
  throw new TuttiError(
    "conflict",
    `${file} holds another key; move it away first, if this folder is to change clusters`,
  );
}

async function makeKey(client: pg.Client, folder: string): Promise<OpenedKey> {
  if ((await keyCheckOf(client)) !== undefined) await requireKeyCheck(client, undefined);
  const text = newClusterKey();
  keepClusterKey(folder, text);
  const made = found(text, clusterKeyFile(folder));
  try {
    await requireKeyCheck(client, made.key.check);
  } catch (thrown) {
    // Another node was first. This key was never used for anything.
    rmSync(clusterKeyFile(folder), { force: true });
    if ((await keyCheckOf(client)) !== undefined) await requireKeyCheck(client, undefined);
    throw thrown;
  }
  return { ...made, made: true };
}

function found(text: string, where: string): FoundKey {
  return { key: clusterKeyFrom(text, where), text: text.trim() };
}
