// Compares the key of a node with the database before the node joins, and makes the key of a database that has none yet.

import { rmSync } from "node:fs";

import type pg from "pg";

import { connectTo, type DatabaseAddress } from "../../store/postgres/database-connection.ts";
import { prepareDatabase } from "../../store/postgres/database.ts";
import { keyCheckOf, requireKeyCheck } from "../../store/postgres/key-check.ts";
import { storageError } from "../../store/postgres/storage-error.ts";
import { newClusterKey } from "./cluster-key.ts";
import {
  clusterKeyFile,
  findClusterKey,
  type FoundKey,
  foundKey,
  keepClusterKey,
  type KeyPlace,
} from "./find-cluster-key.ts";

export interface OpenedKey extends FoundKey {
  /** It was made now: the person has to give it to the other nodes. */
  readonly made: boolean;
}

/** Throws `unauthorized` when the nodes of the database have another key, or have one and this node has none. */
export async function openClusterKey(place: KeyPlace, address: DatabaseAddress): Promise<OpenedKey> {
  let client: pg.Client | undefined;
  try {
    client = await connectTo(address);
    await prepareDatabase(client, address.schema);
    return await clusterKeyOn(client, place);
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

/** The same on a connection of the caller, whose tables are there. Within a transaction, the database has its key with the commit. */
export async function clusterKeyOn(client: Pick<pg.ClientBase, "query">, place: KeyPlace): Promise<OpenedKey> {
  const known = findClusterKey(place);
  if (known === undefined) return makeKey(client, place.folder);
  await requireKeyCheck(client, known.key.check);
  // A named file may be gone at the next start, and commands on this machine need the key too.
  if (place.file !== undefined) keepClusterKey(place.folder, known.text);
  return { ...known, made: false };
}

async function makeKey(client: Pick<pg.ClientBase, "query">, folder: string): Promise<OpenedKey> {
  if ((await keyCheckOf(client)) !== undefined) await requireKeyCheck(client, undefined);
  const text = newClusterKey();
  keepClusterKey(folder, text);
  const made = foundKey(text, clusterKeyFile(folder));
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
