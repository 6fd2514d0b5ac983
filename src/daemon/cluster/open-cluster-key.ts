// Compares the key of a node with the database before the node joins, and makes the key of a database that has none yet.

import { existsSync, rmSync } from "node:fs";

import type pg from "pg";

import { readPrivateFile } from "../../files/private-file.ts";
import { TuttiError } from "../../protocol/error.ts";
import { connectTo, type DatabaseAddress } from "../../store/postgres/database-connection.ts";
import { prepareDatabase } from "../../store/postgres/database.ts";
import { keyCheckOf, noteNextKey, oldKeyChecks, requireKeyCheck } from "../../store/postgres/key-check.ts";
import { storageError } from "../../store/postgres/storage-error.ts";
import { readNodeSettings } from "../state/node-settings.ts";
import { newClusterKey } from "./cluster-key.ts";
import {
  adoptKey,
  clusterKeyFile,
  findClusterKey,
  type FoundKey,
  foundKey,
  keepClusterKey,
  keepNextKey,
  type KeyPlace,
  readNextKey,
  replaceClusterKey,
} from "./find-cluster-key.ts";

export interface OpenedKey extends FoundKey {
  /** It was made now: the person has to give it to the other nodes. */
  readonly made: boolean;
}

/** Throws `unauthorized` when the nodes of the database have another key, or have one and this node has none. */
export async function openClusterKey(place: KeyPlace, address: DatabaseAddress): Promise<OpenedKey> {
  return connected(address, (client) => clusterKeyOn(client, place));
}

async function connected<T>(address: DatabaseAddress, work: (client: pg.Client) => Promise<T>): Promise<T> {
  let client: pg.Client | undefined;
  try {
    client = await connectTo(address);
    await prepareDatabase(client, address.schema);
    return await work(client);
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

/** The same on a connection of the caller, whose tables are there. Within a transaction, the database has its key with the commit. */
export async function clusterKeyOn(client: Pick<pg.ClientBase, "query">, place: KeyPlace): Promise<OpenedKey> {
  const check = await keyCheckOf(client);
  // The key may have been changed while this node was not there, and may have been given to it before.
  const next = place.file === undefined && check !== undefined ? readNextKey(place.folder) : undefined;
  const isNext = check !== undefined && next?.key.check === check;
  const known = isNext ? adoptKey(place.folder, check) : findClusterKey(place);
  if (known === undefined) return makeKey(client, place.folder);
  await requireKeyCheck(client, known.key.check);
  // A named file may be gone at the next start, and commands on this machine need the key too.
  if (place.file !== undefined) await keepKnownKey(client, place.folder, known);
  return { ...known, made: false };
}

/** Keeps a key of which the database was asked. Replaces only one that the same cluster had before. */
async function keepKnownKey(client: Pick<pg.ClientBase, "query">, folder: string, known: FoundKey): Promise<void> {
  const own = readPrivateFile(clusterKeyFile(folder));
  const before = own === undefined ? undefined : foundKey(own, clusterKeyFile(folder)).key.check;
  const isOld = before !== undefined && (await oldKeyChecks(client)).includes(before);
  if (isOld) replaceClusterKey(folder, known.text);
  else keepClusterKey(folder, known.text);
}

/** For `tutti cluster-key set`: where the folder has a key that its cluster had before, the new one takes its place. */
export async function keepGivenKey(folder: string, text: string): Promise<void> {
  const given = foundKey(text, "the input");
  const address = existsSync(clusterKeyFile(folder)) ? readNodeSettings(folder)?.address : undefined;
  if (address === undefined) return keepClusterKey(folder, text);
  await connected(address, async (client) => {
    if ((await keyCheckOf(client)) === given.key.check) await keepKnownKey(client, folder, given);
    else keepClusterKey(folder, text);
  });
}

/** For `tutti cluster-key set --next`: the others are told that this node has it. */
export async function keepGivenNextKey(folder: string, text: string): Promise<void> {
  const settings = readNodeSettings(folder);
  if (settings === undefined) {
    throw new TuttiError(
      "not_found",
      `${folder} is not the folder of a node, so there is no cluster whose key could change`,
    );
  }
  const { key } = keepNextKey(folder, text);
  await connected(settings.address, (client) => noteNextKey(client, settings.name, key.check));
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
